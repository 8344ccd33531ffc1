// Replaces fetch_curl.cpp if lase is built without libcurl.

#include "lase/base/error.h"

#include "download/fetch.h"

namespace lase {

void fetch(const FetchRequest& request) {
  fail("lase was built without libcurl; download ", request.url, " by other means");
}

}  // namespace lase
