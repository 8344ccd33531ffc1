#include <algorithm>
#include <array>
#include <curl/curl.h>
#include <exception>
#include <memory>

#include "lase/base/error.h"
#include "lase/version.h"

#include "download/fetch.h"

namespace lase {
namespace {

constexpr long kStallBytes = 100;  // per second
constexpr long kMostRedirections = 10;

// A transfer in progress. Exceptions must not pass through libcurl, which is C, so they are stored.
struct Transfer {
  const FetchRequest& request;
  CURL* handle = nullptr;
  int64_t received = 0;
  std::exception_ptr error;
  std::array<char, CURL_ERROR_SIZE> reason{};

  int64_t total() const {
    curl_off_t bytes = 0;
    curl_easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    return bytes > 0 ? bytes : 0;
  }
  bool stopped() const { return request.stop != nullptr && *request.stop; }
  void take(std::span<const std::byte> bytes);
};

void Transfer::take(std::span<const std::byte> bytes) {
  const int64_t size = received + static_cast<int64_t>(bytes.size());
  require(std::max(size, total()) <= request.most_bytes, request.url, ": the server sends ",
          std::max(size, total()), " bytes or more, expected at most ", request.most_bytes);
  if (received == 0 && request.begin) request.begin(total());
  if (request.write) request.write(bytes);
  received = size;
}

size_t on_data(char* data, size_t, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    transfer.take(std::as_bytes(std::span(data, size)));
  } catch (...) {
    transfer.error = std::current_exception();
    return CURL_WRITEFUNC_ERROR;
  }
  return size;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (transfer.stopped()) return 1;
  try {
    if (transfer.request.progress && transfer.received > 0) {
      transfer.request.progress(transfer.received, transfer.total());
    }
  } catch (...) {
    transfer.error = std::current_exception();
    return 1;
  }
  return 0;
}

template <class T>
void set(CURL* handle, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(handle, option, value);
  require(code == CURLE_OK, "libcurl: ", curl_easy_strerror(code));
}

void set_up(Transfer& transfer) {
  const FetchRequest& request = transfer.request;
  CURL* handle = transfer.handle;
  set(handle, CURLOPT_URL, request.url.c_str());
  set(handle, CURLOPT_USERAGENT, join("lase/", kVersion).c_str());
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  const bool open = request.url.starts_with("http://");
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, open ? "http,https" : "https");
  set(handle, CURLOPT_FOLLOWLOCATION, 1L);
  set(handle, CURLOPT_MAXREDIRS, kMostRedirections);
  set(handle, CURLOPT_FAILONERROR, 1L);
  if (!request.ca_file.empty()) {
    set(handle, CURLOPT_CAINFO, request.ca_file.c_str());
    set(handle, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
  set(handle, CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
  set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_seconds));
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_ERRORBUFFER, transfer.reason.data());
  set(handle, CURLOPT_WRITEFUNCTION, &on_data);
  set(handle, CURLOPT_WRITEDATA, &transfer);
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(handle, CURLOPT_XFERINFODATA, &transfer);
}

long http_status(const Transfer& transfer) {
  long code = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &code);
  return code;
}

// The reason for a failure, without libcurl terms.
std::string reason_of(CURLcode code, const Transfer& transfer) {
  std::string detail =
      transfer.reason[0] != '\0' ? transfer.reason.data() : curl_easy_strerror(code);
  char* reached = nullptr;
  curl_easy_getinfo(transfer.handle, CURLINFO_EFFECTIVE_URL, &reached);
  switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
      return join("the server returned HTTP status ", http_status(transfer));
    case CURLE_COULDNT_RESOLVE_HOST:
      return "unknown host, or no network connection";
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
      return join("the connection closed after ", transfer.received,
                  transfer.total() > 0 ? join(" of ", transfer.total()) : "", " bytes");
    case CURLE_OPERATION_TIMEDOUT:
      return join("the server does not respond or is too slow (", detail, ")");
    case CURLE_TOO_MANY_REDIRECTS:
      return join("redirected more than ", kMostRedirections, " times");
    case CURLE_UNSUPPORTED_PROTOCOL:
      return join("redirected to ", quote(reached), ", whose protocol is not allowed");
    case CURLE_PEER_FAILED_VERIFICATION:
      return join("the certificate of the server cannot be verified (", detail,
                  "); specify trusted certificates with --ca");
    default:
      return detail;
  }
}

}  // namespace

void fetch(const FetchRequest& request) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  require(ready == CURLE_OK, "libcurl failed to initialize: ", curl_easy_strerror(ready));
  const bool supported = request.url.starts_with("http://") || request.url.starts_with("https://");
  require(supported, request.url, ": cannot be downloaded: expected http:// or https://");
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(),
                                                                   &curl_easy_cleanup);
  require(handle != nullptr, "libcurl failed to initialize");
  Transfer transfer{.request = request, .handle = handle.get(), .error = nullptr};
  set_up(transfer);
  const CURLcode code = curl_easy_perform(handle.get());
  if (transfer.error) std::rethrow_exception(transfer.error);
  require(!transfer.stopped(), request.url, ": download stopped");
  require(code == CURLE_OK, request.url, ": cannot be downloaded: ", reason_of(code, transfer));
  constexpr long kOk = 200;
  require(http_status(transfer) == kOk, request.url,
          ": cannot be downloaded: the server returned HTTP status ", http_status(transfer));
}

}  // namespace lase
