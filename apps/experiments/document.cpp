#include "experiments/document.h"

#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/text.h"
#include "lase/base/utf8.h"

#include "report/markup.h"

namespace lase {
namespace {

// Escapes |, which would end the cell.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

int64_t character_count(std::string_view text) {
  int64_t count = 0;
  for_each_character(text, [&](Character, std::string_view) { ++count; });
  return count;
}

std::string paragraphs(const std::string& text) {
  std::string html;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find("\n\n", at), text.size());
    html += join("<p>", escaped(text.substr(at, end - at)), "</p>\n");
    at = end + 2;
  }
  return html;
}

constexpr std::string_view kStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 3rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .25rem .8rem; border-bottom: 1px solid #e4e7ec;
         white-space: nowrap; }
td + td { font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; } .notes { color: #5b6472; font-size: .9rem; }
@media (prefers-color-scheme: dark) {
  body { background: #14171c; color: #e6e8eb; } th, td { border-color: #333a44; }
  .notes { color: #a3acb8; }
}
)";

}  // namespace

std::string TextTable::text() const {
  std::vector<int64_t> widths(columns.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], character_count(row[i]));
  };
  measure(columns);
  for (const auto& row : rows) measure(row);
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(static_cast<size_t>(widths[i] - character_count(row[i])) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(columns);
  for (const auto& row : rows) add(row);
  return text;
}

std::string TextTable::markdown() const {
  std::string text = "|";
  for (const auto& column : columns) text += join(" ", markdown_cell(column), " |");
  text += "\n|";
  for (size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : rows) {
    text += "|";
    for (const auto& cell : row) text += join(" ", markdown_cell(cell), " |");
    text += "\n";
  }
  return text;
}

std::string TextTable::csv() const {
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ",";
      append_csv_field(text, cells[i]);
    }
    text += "\n";
  };
  line(columns);
  for (const auto& row : rows) line(row);
  return text;
}

std::string TextTable::html() const {
  if (columns.empty()) return "";
  std::string text = "<table>\n<tr>";
  for (const auto& column : columns) text += join("<th>", escaped(column), "</th>");
  text += "</tr>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (const auto& cell : row) text += join("<td>", escaped(cell), "</td>");
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

std::string Document::markdown() const {
  std::string all = "# " + title + "\n\n";
  if (!text.empty()) all += text + "\n\n";
  if (!table.columns.empty()) all += table.markdown() + "\n";
  if (!svg.empty()) all += "![" + title + "](" + name + ".svg)\n\n";
  if (!page.empty()) all += join("[Report of one run](", page, ")\n\n");
  if (!notes.empty()) all += notes + "\n";
  return all;
}

std::string Document::html() const {
  std::string all = join("<section id=\"", escaped(name), "\">\n<h2>", escaped(title), "</h2>\n");
  all += join(paragraphs(text), table.html(), svg);
  if (!page.empty()) {
    all += join("<p><a href=\"", escaped(page), "\">Report of one run</a></p>\n");
  }
  all += join("<div class=\"notes\">", paragraphs(notes), "</div>\n</section>\n");
  return all;
}

std::string html_page(const std::string& title, const std::vector<Document>& documents) {
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += join("<title>", escaped(title), "</title>\n<style>", kStyle, "</style>\n");
  page += join("</head>\n<body>\n<h1>", escaped(title), "</h1>\n<p>");
  for (const auto& document : documents) {
    page += join("<a href=\"#", escaped(document.name), "\">", escaped(document.name), "</a> ");
  }
  page += "</p>\n";
  for (const auto& document : documents) page += document.html();
  return page + "</body>\n</html>\n";
}

std::string score_text(double mean, double error) {
  return error > 0 ? fixed(mean, 3) + " ± " + fixed(error, 3) : fixed(mean, 3);
}

}  // namespace lase
