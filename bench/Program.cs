using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites;
using Treepie.Bench.Suites.Backups;
using Treepie.Bench.Suites.Faster;
using Treepie.Bench.Suites.Fdb;
using Treepie.Bench.Suites.Indexing;
using Treepie.Bench.Suites.Reading;
using Treepie.Bench.Suites.Search;
using Treepie.Bench.Suites.Words;

// dotnet run -c Release --project bench -- <suite>|all [--quick] [--json <file>] [--no-docs], or --list, or data
switch (args)
{
    case ["data"]:
        return Corpus.Describe(Console.Out) ? 0 : 2;
    case [LimitServer.Verb, string bytes]:
        await LimitServer.RunAsync(int.Parse(bytes, CultureInfo.InvariantCulture));
        return 0;
    case [StartSuite.OpenVerb, string path]:
        await StartSuite.OpenOnceAsync(path);
        return 0;
    case [EmbeddedSuite.ColdVerb, string engine, string path]:
        EmbeddedSuite.RunCold(engine, path);
        return 0;
    case [EmbeddedSuite.RowsVerb, string orders, string isQuick]:
        await EmbeddedSuite.RunRowsAsync(int.Parse(orders, CultureInfo.InvariantCulture), bool.Parse(isQuick));
        return 0;
    case [FdbLoad.Verb, string engine, string path, string rows]:
        FdbLoad.Run(engine, path, int.Parse(rows, CultureInfo.InvariantCulture));
        return 0;
    case [FdbProfile.Verb, string engine, string work, string seconds, string rows]:
        FdbProfile.Run(
            engine, int.Parse(work, CultureInfo.InvariantCulture), double.Parse(seconds, CultureInfo.InvariantCulture),
            int.Parse(rows, CultureInfo.InvariantCulture));
        return 0;
    case [SearchProcess.IndexVerb, string engine, string folder, string file, string batch]:
        SearchProcess.RunIndex(engine, folder, file, int.Parse(batch, CultureInfo.InvariantCulture));
        return 0;
    case [SearchProcess.AskVerb, string folder, string file, string passes]:
        SearchProcess.RunAsk(folder, file, int.Parse(passes, CultureInfo.InvariantCulture));
        return 0;
    case [SearchProfile.Verb, string folder, string file, string kinds, string seconds]:
        SearchProfile.Run(folder, file, kinds, double.Parse(seconds, CultureInfo.InvariantCulture));
        return 0;
    case [SearchProfile.MakeVerb, string texts, string count, string folder]:
        SearchProfile.Make(texts, int.Parse(count, CultureInfo.InvariantCulture), folder);
        return 0;
    case [SearchProfile.SizesVerb, string folder]:
        SearchProfile.Sizes(folder);
        return 0;
    case [SearchOpening.FirstVerb, string folder, string question]:
        SearchOpening.RunFirst(folder, question);
        return 0;
    case [SearchOpening.Verb, string folder, string file, string rounds]:
        SearchOpening.Run(folder, file, int.Parse(rounds, CultureInfo.InvariantCulture));
        return 0;
    case [WordRun.Verb, string engine, string folder, string words, string puts, string seconds]:
        DiskMapSuite.RunOne(
            engine, folder, long.Parse(words, CultureInfo.InvariantCulture), long.Parse(puts, CultureInfo.InvariantCulture),
            double.Parse(seconds, CultureInfo.InvariantCulture));
        return 0;
    case [ReadProfile.Verb, string seconds, string question]:
        await ReadProfile.RunAsync(double.Parse(seconds, CultureInfo.InvariantCulture), question);
        return 0;
    case [MetricsCost.Verb, string seconds]:
        await MetricsCost.RunAsync(double.Parse(seconds, CultureInfo.InvariantCulture));
        return 0;
    case [Crowd.Verb, string connections, string readers]:
        await Crowd.RunAsync(
            int.Parse(connections, CultureInfo.InvariantCulture), int.Parse(readers, CultureInfo.InvariantCulture));
        return 0;
    case [BackupProfile.Verb, string set, string kind, string compression, string megabytes, string times, .. string[] file]:
        await BackupProfile.RunAsync(
            set, Enum.Parse<BackupKind>(kind), Enum.Parse<BackupCompression>(compression),
            int.Parse(megabytes, CultureInfo.InvariantCulture), int.Parse(times, CultureInfo.InvariantCulture),
            file.FirstOrDefault());
        return 0;
    case [IndexingProfile.Verb, string documents, string questions, string batch, string thread]:
        IndexingProfile.Run(
            int.Parse(documents, CultureInfo.InvariantCulture), int.Parse(questions, CultureInfo.InvariantCulture),
            int.Parse(batch, CultureInfo.InvariantCulture), isQuiet: thread == "quiet");
        return 0;
    case [IndexingProfile.SearchVerb, string folder, string documents, string file, string seconds]:
        IndexingProfile.RunSearch(folder, documents, file, double.Parse(seconds, CultureInfo.InvariantCulture));
        return 0;
    case [DirectUpload.Verb, string megabytes, string rounds]:
        await DirectUpload.PrintAsync(
            int.Parse(megabytes, CultureInfo.InvariantCulture), int.Parse(rounds, CultureInfo.InvariantCulture));
        return 0;
    case [WritersMeanwhile.Verb, string megabytes, string seconds, string rounds, .. string[] percents]:
        await WritersMeanwhile.PrintAsync(
            int.Parse(megabytes, CultureInfo.InvariantCulture), double.Parse(seconds, CultureInfo.InvariantCulture),
            int.Parse(rounds, CultureInfo.InvariantCulture),
            [.. percents.Select(static percent => int.Parse(percent, CultureInfo.InvariantCulture))]);
        return 0;
    case [SearchCosts.Verb, string folder, string word, string other]:
        SearchCosts.Run(folder, word, other);
        return 0;
    case [MapProfile.Verb, string maps, string work, string skew, string threads, string seconds, string keys]:
        MapProfile.Run(
            maps, work, skew, int.Parse(threads, CultureInfo.InvariantCulture),
            double.Parse(seconds, CultureInfo.InvariantCulture), long.Parse(keys, CultureInfo.InvariantCulture));
        return 0;
}

ISuite[] suites =
[
    new IngestSuite(), new ReadSuite(), new StartSuite(), new FdbSuite(), new FilterSuite(), new LocatorSuite(), new OpenSuite(),
    new FasterSuite(), new DiskMapSuite(), new EncryptedSuite(), new EncryptedSearchSuite(),
    new BackupSuite(), SearchSuite.OfVerses, SearchSuite.OfMadeTexts, new SearchMixedSuite(), new IndexingSuite(),
    new NearSuite(), new PlansSuite(), new ComputingSuite(), new EmbeddedSuite(), new KindsSuite(),
];

string? wanted = args.FirstOrDefault(arg => !arg.StartsWith("--", StringComparison.Ordinal));
if (args is ["--list"])
{
    foreach (ISuite suite in suites)
        Console.WriteLine(suite.Name);
    return 0;
}

bool quick = args.Contains("--quick");
int jsonAt = Array.IndexOf(args, "--json");
ISuite[] chosen = [.. suites.Where(suite => wanted == "all" || suite.Name == wanted)];
if (chosen.Length == 0)
{
    Console.Error.WriteLine(
        $"Which suite? all, {string.Join(", ", suites.Select(suite => suite.Name))}. Options: --quick, --json <file>, --no-docs, "
            + $"--list.");
    return 2;
}

using var cancel = new CancellationTokenSource();
Console.CancelKeyPress += (_, press) =>
{
    press.Cancel = true;
    cancel.Cancel();
};

var all = new List<(string, BenchRow)>();
foreach (ISuite suite in chosen)
{
    IReadOnlyList<BenchRow> rows;
    try
    {
        rows = await suite.RunAsync(quick, Console.Error, cancel.Token);
    }
    catch (IncompleteDataSetException incomplete)
    {
        Console.Error.WriteLine($"{suite.Name}: {incomplete.Message}");
        return 2;
    }

    all.AddRange(rows.Select(row => (suite.Name, row)));
    string command = $"dotnet run -c Release --project bench -- {suite.Name}{(quick ? " --quick" : "")}";
    string section = BenchReport.Markdown(suite, rows, command, TimeProvider.System.GetUtcNow());
    Console.WriteLine(section);
    if (!quick && !args.Contains("--no-docs"))
        BenchReport.WriteTo(Path.Combine(Corpus.RepositoryRoot, "docs", "benchmarks", suite.Name + ".md"), suite, section);
}

if (jsonAt >= 0 && jsonAt + 1 < args.Length)
    BenchReport.WriteJson(args[jsonAt + 1], all);
return 0;
