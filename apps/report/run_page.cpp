#include "report/run_page.h"

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/inference/link_task.h"

#include "report/page_parts.h"
#include "report/page_text.h"

namespace lase {

using nlohmann::json;

json run_page_data(const Graph& graph, const TrainResult& result, const RunPageOptions& options) {
  Context context = Context::current();
  context.stop = options.stop;
  const ContextScope scope(context);
  try {
    return predicts_links(result.trained.predicts) ? page::link_page(graph, result, options)
                                                   : page::node_page(graph, result, options);
  } catch (const Stopped&) {
    return nullptr;
  }
}

std::string run_page(const json& data) {
  // A literal "<" in the data, as in "</script>", could end the script element.
  std::string text;
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  constexpr std::string_view kPlaceholder = "@DATA@";
  const std::string_view page = page_text();
  const size_t at = page.find(kPlaceholder);
  require(at != std::string_view::npos, "the report page template does not contain ", kPlaceholder);
  return join(page.substr(0, at), text, page.substr(at + kPlaceholder.size()));
}

}  // namespace lase
