using System.Diagnostics;
using System.Globalization;
using Treepie.Torture.Modes;
using Treepie.Torture.Real;
using Treepie.Torture.Runs;
using Treepie.Torture.Servers;

namespace Treepie.Torture;

/// <summary>Runs the torture test for some time and reports progress. Exits with 0 if no guarantee was violated.</summary>
internal static class TortureProgram
{
    /// <summary>Number of pieces in which each mutant of a sample must be killed: many times what any of them takes.</summary>
    private const long PiecesOfMutant = 3000;

    /// <summary>The text of <c>--help</c>.</summary>
    public static string Help => $"""
        Tortures the storage engine on a simulated disk, and tells what it found.
          --minutes N       for so long (5); --seconds N too
          --seed N          one random run again
          --repeat MODE:N   any piece of any mode again, as a failure names it
          --first N         the first seed; otherwise drawn
          --threads N       so many (one for each processor)
          --modes A,B       only these modes: {string.Join(", ", ModeNames)}
          --mode server     the whole server, killed under clients of every kind; --first N the seed
          --mutants         only the mutants; --mutant NAME one of them; --mutant-seconds N for each (60)
          --no-page         leaves docs/reliability.md as it is; --page writes it after a run of some modes too
          --long-reader     10 GB through a database of 1 GB on the real disk, while a reader stays open
        """;

    public static int Run(string[] arguments)
    {
        TortureOptions options;
        try
        {
            options = TortureOptions.Parse(arguments);
        }
        catch (ArgumentException error)
        {
            Console.Error.WriteLine(error.Message);
            return 2;
        }

        if (options.IsHelp)
        {
            Console.WriteLine(Help);
            return 0;
        }

        if (options.KilledProcessDirectory is { } directory)
            return KilledProcess.Run(directory, options.FirstSeed, options.IsEncrypted);

        if (options.FaultyProcessDirectory is { } faulty)
            return FaultyProcess.Run(faulty, options.FirstSeed, options.Fault, options.IsEncrypted);

        if (options.IsServer)
            return ServerTorture.Run(options.FirstSeed, options.Time, Console.WriteLine) is null ? 0 : 1;

        return (options.IsLongReader ? ReadLong(Console.WriteLine) : Torture(options, Console.WriteLine)) is null ? 0 : 1;
    }

    /// <summary>The names of all modes that run together.</summary>
    public static IReadOnlyList<string> ModeNames => [.. BatteryOf([], 0).Done.Select(entry => entry.Mode.Name)];

    private static Battery BatteryOf(IReadOnlyList<string> only, long firstSeed) => Battery.Full(
        firstSeed, only, (new ThreadsMode(), 8), (new KilledProcessMode(), 8), (new SystemErrorsMode(), 8),
        (new InterleavedProcessMode(), 10));

    /// <summary>Runs the large form of <see cref="LongReader"/>. Returns a description of the failure, or null.</summary>
    private static string? ReadLong(Action<string> say)
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("treepie-long-reader-");
        try
        {
            List<string> problems = new LongReader(directory.FullName, 1L << 30, 10L << 30, say).Run();
            string? told = problems.Count == 0 ? null : string.Join("\n", problems);
            say(told ?? "All stayed within its bounds.");
            return told;
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }

    /// <summary>Runs the torture test. Returns a description of the failure, or null.</summary>
    public static string? Torture(TortureOptions options, Action<string> say)
    {
        var tally = new Tally();
        Battery battery = BatteryOf(options.Modes, options.FirstSeed);
        var watch = Stopwatch.StartNew();
        if (options.Repeat is { } piece)
        {
            string[] parts = piece.Split(':');
            battery.Repeat(parts[0], long.Parse(parts[^1], CultureInfo.InvariantCulture), tally);
            return Tell(battery, say);
        }

        bool isWhole = options.Modes.Count == 0;
        string? holes = null;
        MutantHunt? hunt = null;
        if (options.OnlyMutants || isWhole)
        {
            hunt = new MutantHunt(say);
            hunt.Run(options.TimeOfMutant, options.Threads, options.Mutant);
            say(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{hunt.Killed} of {hunt.Count} mutants killed in {watch.Elapsed.TotalSeconds:0} s"));
            holes = Holes(hunt);
        }
        else if (options.TimeOfSample > TimeSpan.Zero)
        {
            var sample = new MutantHunt(say);
            sample.RunSample(options.FirstSeed, options.TimeOfSample, PiecesOfMutant, options.Threads);
            say(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{sample.Killed} mutants killed, a sample of {sample.Count}, in {watch.Elapsed.TotalSeconds:0} s"));
            holes = Holes(sample);
        }

        if (options.OnlyMutants)
            return holes;

        TimeSpan time = options.Time - watch.Elapsed;
        time = time > options.Time / 4 ? time : options.Time / 4;
        say($"seeds from {options.FirstSeed} on, {options.Threads} threads, {time.TotalSeconds:0} s");
        watch.Restart();
        var work = new Thread(() => battery.Run(time, options.Threads, tally));
        work.Start();
        while (!work.Join(TimeSpan.FromSeconds(10)))
            say(Progress(battery, tally, watch));
        say(Progress(battery, tally, watch));
        say(Rates(battery, tally, watch.Elapsed));
        foreach (string skipped in tally.Skipped)
            say(skipped);
        string? broken = Tell(battery, say);
        bool isEngineSound = broken is null && hunt is not { Unproven.Count: > 0 };
        if ((isWhole || options.ForcesPage) && options.WritesPage && isEngineSound) // the page lists surviving mutants
            ReliabilityPage.Write(Figures(battery, tally, watch.Elapsed, hunt, options));
        return broken ?? holes;
    }

    private static string? Holes(MutantHunt hunt)
    {
        string[] holes = [.. hunt.Survivors.Select(static mutant => $"{mutant.Name}: {mutant.What}"), .. hunt.Unproven];
        return holes.Length == 0
            ? null
            : "Mutants of the engine that nothing noticed, so the torture has a hole:\n" + string.Join("\n", holes);
    }

    private static IEnumerable<(string, string)> Figures(
        Battery battery, Tally tally, TimeSpan time, MutantHunt? hunt, TortureOptions options)
    {
        yield return (
            "time, threads", string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0} s, {options.Threads}"));
        yield return ("crash states, of these with different content", $"{Number(tally.States)}, {Number(tally.Distinct)}");
        yield return ("different crash states per hour at this rate", Number((long)(tally.Distinct / time.TotalHours)));
        yield return ("recoveries compared with what they must be", Number(tally.Recoveries));
        yield return ("of these, in encrypted environments", Number(tally.EncryptedRecoveries));
        yield return ("encryptions, each with its own nonce", Number(tally.Seals));
        yield return ("moments at which crash states were explored", Number(tally.Barriers));
        foreach ((IMode mode, long done) in battery.Done)
            yield return (
                mode.Name,
                mode.Pieces == long.MaxValue
                    ? $"{Number(done)} ({Number((long)(done / time.TotalHours))} per hour)"
                    : $"{Number(done)} workloads of {Number(mode.Pieces)}");
        if (hunt is not null)
        {
            yield return ("mutants killed by these modes", $"{hunt.Killed} of {hunt.Count}");
            if (hunt.Survivors.Count > 0)
                yield return (
                    $"not within {Number((long)options.TimeOfMutant.TotalSeconds)} s of one thread",
                    string.Join(", ", hunt.Survivors.Select(static mutant => $"`{mutant.Name}`")));
        }
    }

    /// <summary>The amount of work per hour at the current rate.</summary>
    private static string Rates(Battery battery, Tally tally, TimeSpan time) =>
        $"In an hour at this rate: {Number((long)(tally.Distinct / time.TotalHours))} distinct crash states, "
        + string.Join(
            ", ",
            battery.Done.Where(entry => entry.Mode.Pieces == long.MaxValue)
                .Select(entry => $"{Number((long)(entry.Done / time.TotalHours))} {entry.Mode.Name}"));

    private static string Number(long number) => number.ToString("n0", CultureInfo.InvariantCulture);

    private static string? Tell(Battery battery, Action<string> say)
    {
        if (battery.Failure is not { } failure)
            return null;

        string told = string.Join("\n", [
            $"A promise is broken ({battery.FailedPiece}): {failure.Message}",
            .. failure.Story,
            $"Again: dotnet run -c Release --project tests/Torture -- --repeat {battery.FailedPiece}",
        ]);
        say(told);
        return told;
    }

    private static string Progress(Battery battery, Tally tally, Stopwatch watch) => string.Create(
        CultureInfo.InvariantCulture,
        $"{watch.Elapsed.TotalSeconds:0} s: {tally.Distinct:n0} distinct crash states of {tally.States:n0}, "
            + $"{tally.Recoveries:n0} recoveries, "
            + $"{string.Join(", ", battery.Done.Select(entry => $"{entry.Done:n0} {entry.Mode.Name}"))}");
}
