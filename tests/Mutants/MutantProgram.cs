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
            foreach ((string name, string what, _) in Mutant.All)
                Console.WriteLine($"{name}\t{what}");
            return 0;
        }

        double seconds = double.Parse(arguments[Array.IndexOf(arguments, "--seconds") + 1], CultureInfo.InvariantCulture);
        long first = arguments.Contains("--first") ? long.Parse(arguments[Array.IndexOf(arguments, "--first") + 1], CultureInfo.InvariantCulture) : 1;
        var watch = Stopwatch.StartNew();
        try
        {
            // The modes it names get half of the time, all of them the rest.
            string modes = Mutant.On > 0 ? Mutant.All[Mutant.On - 1].Modes : "";
            foreach (string[] only in (string[][])[modes.Split(',', StringSplitOptions.RemoveEmptyEntries), []])
            {
                Battery battery = Battery.Full(first, only);
                battery.IsMinimising = false;
                battery.Run(TimeSpan.FromSeconds(only.Length > 0 ? seconds / 2 : seconds - watch.Elapsed.TotalSeconds), 1, new Tally());
                if (battery.Failure is not { } failure)
                    continue;

                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds:0.0} s, {battery.FailedPiece}: {failure.Message}"));
                return Killed;
            }

            return 0;
        }
        catch (Exception error)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds:0.0} s, while preparing: {error.GetType().Name}: {error.Message}"));
        }

        return Killed;
    }
}
