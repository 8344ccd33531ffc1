// Stands in for fetch_curl.cpp where lase is built without libcurl.

#include "lase/base/error.h"

#include "download/fetch.h"

namespace lase {

void fetch(const FetchRequest& request) {
  fail("this lase was built without libcurl; please fetch ", request.url, " by other means");
}

}  // namespace lase
