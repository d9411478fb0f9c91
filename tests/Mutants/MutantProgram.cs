using System.Diagnostics;
using System.Globalization;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Mutants;

/// <summary>
/// <c>--list</c> names the mutants. Otherwise tortures the engine with the mutant of <see cref="Mutant.Variable"/> for <c>--seconds N</c> at most:
/// ends with 1, saying how, as soon as it is noticed, and with 0 where it survives. A process that dies noticed it too.
/// </summary>
internal static class MutantProgram
{
    private const int Killed = 1;

    public static int Main(string[] arguments)
    {
        if (arguments.Contains("--list"))
        {
            foreach ((string name, string what) in Mutant.All)
                Console.WriteLine($"{name}\t{what}");
            return 0;
        }

        double seconds = double.Parse(arguments[Array.IndexOf(arguments, "--seconds") + 1], CultureInfo.InvariantCulture);
        long first = arguments.Contains("--first") ? long.Parse(arguments[Array.IndexOf(arguments, "--first") + 1], CultureInfo.InvariantCulture) : 1;
        var watch = Stopwatch.StartNew();
        try
        {
            Battery battery = Battery.Full(first, []);
            battery.IsMinimising = false;
            battery.Run(TimeSpan.FromSeconds(seconds), 1, new Tally());
            if (battery.Failure is not { } failure)
                return 0;

            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds:0.0} s, {battery.FailedPiece}: {failure.Message}"));
        }
        catch (Exception error)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds:0.0} s, while preparing: {error.GetType().Name}: {error.Message}"));
        }

        return Killed;
    }
}
