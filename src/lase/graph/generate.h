#pragma once

#include <functional>
#include <string>

#include "lase/graph/planted.h"

namespace lase {

// Streams a planted graph to a graph file; only the arcs are kept in memory.
void generate_graph(const PlantedOptions& options, const std::string& path);

// Synthetic stand-ins with the sizes in table 2 of the paper: reddit, dblp, email, fmobile.
PlantedOptions stand_in(const std::string& name, uint64_t seed);

struct MailOptions {
  int64_t people = 400;
  int64_t contacts = 30'000;
  uint64_t seed = 1;
};

const OptionTable<MailOptions>& mail_option_table();

// Writes synthetic emails within a company over one year to a folder: contacts.csv (source,
// target, time) and people.csv (id, department, split, years, level). Each department has its own
// busy weeks, so the times of the emails between two people reveal their department.
void generate_mail(const MailOptions& options, const std::string& folder);

struct PaymentsOptions {
  int64_t accounts = 1000;
  int64_t payments = 20'000;  // per week
  int64_t weeks = 1;
  int64_t first_week = 0;
  uint64_t seed = 1;
};
const OptionTable<PaymentsOptions>& payments_option_table();

// Writes synthetic payments to a folder: payments.csv (date, amount, channel, sender, receiver) and
// accounts.csv (account, segment, opened, balance, status). Some amounts, channels, balances and
// statuses are missing. About 8 % of the accounts are fraudulent, which shows in the amounts,
// channels and hours of their payments.
void generate_payments(const PaymentsOptions& options, const std::string& folder);

}  // namespace lase
