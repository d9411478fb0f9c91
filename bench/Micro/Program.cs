using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Treepie.Bench.Micro;

// dotnet run -c Release --project bench/Micro -- --filter '*Blake3*', or --list flat
// Each run builds Storage and Indexing anew, in a folder of its own: without analyzers, and with time for small machines.
IConfig config = DefaultConfig.Instance
    .AddDiagnoser(MemoryDiagnoser.Default)
    .WithBuildTimeout(TimeSpan.FromMinutes(10))
    .AddJob(Job.Default.WithArguments([new MsBuildArgument("/p:RunAnalyzers=false")]).AsMutator());
IEnumerable<Summary> summaries = BenchmarkSwitcher.FromTypes([.. Rehearsal.Classes]).Run(args, config);
return summaries.All(summary => !summary.HasCriticalValidationErrors && summary.Reports.All(report => report.Success)) ? 0 : 1;
