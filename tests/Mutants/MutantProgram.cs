using System.Diagnostics;
using System.Globalization;
using Treepie.Mutants.Interleavings;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Mutants;

/// <summary>
/// <c>--list</c> names the mutants. With <c>--seconds N</c> it tortures the engine with the mutant of
/// <see cref="Mutant.Variable"/>: ends with 1, saying how, as soon as it is noticed, and with 0 where it survives; seconds are of
/// the processor's, so that a busy machine spares no mutant. A process that dies noticed it too. Pieces come in an order that
/// depends on nothing but <c>--first</c>, and each is told before it runs (<c>at MODE:N</c>), so that <c>--pieces N</c>, which
/// bounds their number, and <c>--modes A,B</c>, which bounds their kind, gives the same result on any machine, and <c>--again MODE:N …</c>, by which the engine without a mutant
/// shows that it passes them, is about the very same runs.
/// </summary>
internal static class MutantProgram
{
    private const int Killed = 1;

    public static int Main(string[] arguments)
    {
        if (arguments.Contains("--list"))
        {
            foreach ((string name, string what, _, string modes) in Mutant.All)
                Console.WriteLine($"{name}\t{modes}\t{what}");
            return 0;
        }

        try
        {
            if (Array.IndexOf(arguments, "--again") is var again and >= 0)
                return Repeat(arguments[(again + 1)..]);

            var time = TimeSpan.FromSeconds(double.Parse(Value(arguments, "--seconds") ?? "60", CultureInfo.InvariantCulture));
            return Hunt(
                time, long.Parse(Value(arguments, "--first") ?? "1", CultureInfo.InvariantCulture),
                long.Parse(Value(arguments, "--pieces") ?? "-1", CultureInfo.InvariantCulture),
                Value(arguments, "--modes"));
        }
        catch (Exception error)
        {
            Say("while preparing", $"{error.GetType().Name}: {error.Message}");
        }

        return Killed;
    }

    /// <summary>
    /// The modes the mutant names get half of time and pieces, with encrypted environments for mutants of the encryption and
    /// plain ones for the others; all modes get the rest, with whatever comes.
    /// </summary>
    private static int Hunt(TimeSpan time, long first, long pieces, string? modesAsked)
    {
        (_, _, bool isOfEncryption, string modesOf) = Mutant.On > 0 ? Mutant.All[Mutant.On - 1] : default;
        string[] named = modesOf?.Split(',', StringSplitOptions.RemoveEmptyEntries) ?? [];
        string[] all = modesAsked?.Split(',') ?? [];
        pieces = pieces < 0 ? long.MaxValue : pieces;
        foreach (string[] only in modesAsked is null ? (string[][])[named, all] : [all])
        {
            bool isHalf = only != all;
            TimeSpan until = isHalf ? time / 2 : time;
            long most = isHalf && pieces < long.MaxValue ? pieces / 2 : pieces;
            IReadOnlyList<IMode> modes = Modes(only);
            long taken = 0;
            for (long number = 0; taken < most && Spent() < until; number++)
            {
                IMode mode = modes[(int)(number % modes.Count)];
                long piece = (number / modes.Count) + (mode.Pieces == long.MaxValue ? first : 0);
                if (piece >= mode.Pieces || (isHalf && mode.IsEncrypted(piece) != isOfEncryption))
                    continue;

                taken++;

                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"at {mode.Name}:{piece}"));
                if (Run(mode, piece) is not { } failure)
                    continue;

                Say(string.Create(CultureInfo.InvariantCulture, $"{mode.Name}:{piece}"), failure);
                return Killed;
            }

            if (!isHalf)
                Console.WriteLine(Spent() < time ? "all pieces done" : "the time is over");
        }

        return 0;
    }

    /// <summary>Says of each of these pieces how it fails, if it does.</summary>
    private static int Repeat(string[] pieces)
    {
        int result = 0;
        IReadOnlyList<IMode> modes = Modes([]);
        foreach (string piece in pieces)
        {
            string[] parts = piece.Split(':');
            if (Run(
                modes.First(mode => mode.Name == parts[0]),
                long.Parse(parts[1], CultureInfo.InvariantCulture)) is not { } failure)
                continue;

            Console.WriteLine($"fails {piece} {failure}");
            result = Killed;
        }

        return result;
    }

    /// <summary>The modes on the simulated disk and the one that only this program has, or only those named.</summary>
    private static List<IMode> Modes(string[] only)
    {
        List<IMode> modes = [.. Battery.Modes(only)];
        if (only.Length == 0 || only.Contains(InterleavingsMode.ModeName))
            modes.Add(new InterleavingsMode());
        return modes;
    }

    private static string? Run(IMode mode, long piece)
    {
        try
        {
            mode.Run(piece, new Tally());
            return null;
        }
        catch (Exception error)
        {
            return (error is TortureFailure ? error.Message : $"{error.GetType().Name}: {error.Message}").ReplaceLineEndings(" ");
        }
    }

    private static TimeSpan Spent()
    {
        using var process = Process.GetCurrentProcess();
        return process.TotalProcessorTime;
    }

    private static void Say(string where, string how) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"killed {Spent().TotalSeconds:0.0} s, {where}: {how}"));

    private static string? Value(string[] arguments, string name) =>
        Array.IndexOf(arguments, name) is var at and >= 0 ? arguments[at + 1] : null;
}
