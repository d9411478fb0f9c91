using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Treepie.Bench.Micro;

// dotnet run -c Release --project bench/Micro -- --filter '*Blake3*', or --list flat
IConfig config = DefaultConfig.Instance.AddDiagnoser(MemoryDiagnoser.Default);
IEnumerable<Summary> summaries = BenchmarkSwitcher.FromTypes([.. Rehearsal.Classes]).Run(args, config);
return summaries.All(summary => !summary.HasCriticalValidationErrors && summary.Reports.All(report => report.Success)) ? 0 : 1;
