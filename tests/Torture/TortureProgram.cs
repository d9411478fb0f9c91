using System.Diagnostics;
using System.Globalization;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture;

/// <summary>The program: tortures for some time, tells how it goes, and ends with 0 if no promise was broken.</summary>
internal static class TortureProgram
{
    private const string Help = """
        Tortures the storage engine on a simulated disk, and tells what it found.
          --minutes N       for so long (5); --seconds N too
          --seed N          one random run again
          --repeat MODE:N   any piece of any mode again, as a failure names it
          --first N         the first seed; otherwise drawn
          --threads N       so many (one for each processor)
          --modes A,B       only these modes: exhaustive, seeds, failing-calls, bit-flips, mixtures
          --mutants         only the mutants
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

        return Torture(options, Console.WriteLine) is null ? 0 : 1;
    }

    /// <summary>Tortures as asked; returns what is wrong, told, or null.</summary>
    public static string? Torture(TortureOptions options, Action<string> say)
    {
        var tally = new Tally();
        Battery battery = Battery.Full(options.FirstSeed, options.Modes);
        var watch = Stopwatch.StartNew();
        if (options.Repeat is { } piece)
        {
            string[] parts = piece.Split(':');
            battery.Repeat(parts[0], long.Parse(parts[^1], CultureInfo.InvariantCulture), tally);
        }
        else
        {
            say($"seeds from {options.FirstSeed} on, {options.Threads} threads, {options.Time}");
            var work = new Thread(() => battery.Run(options.Time, options.Threads, tally));
            work.Start();
            while (!work.Join(TimeSpan.FromSeconds(10)))
                say(Progress(battery, tally, watch));
        }

        say(Progress(battery, tally, watch));
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
        $"{watch.Elapsed.TotalSeconds:0} s: {tally.Distinct:n0} distinct crash states of {tally.States:n0}, {tally.Recoveries:n0} recoveries, {string.Join(", ", battery.Done.Select(entry => $"{entry.Done:n0} {entry.Mode.Name}"))}");
}
