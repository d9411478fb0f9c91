using System.Globalization;

namespace Treepie.Torture;

/// <summary>What the command line asks for.</summary>
internal sealed record TortureOptions
{
    private static readonly string[] _names =
    [
        "--minutes", "--seconds", "--seed", "--repeat", "--threads", "--first", "--mutants", "--long-reader", "--killed-process",
        "--modes", "--mode", "--mutant", "--mutant-seconds", "--no-page", "--page", "--help"
    ];

    /// <summary>How long.</summary>
    public TimeSpan Time { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>Threads that torture.</summary>
    public int Threads { get; init; } = Environment.ProcessorCount;

    /// <summary>A single piece to run again, mode and number.</summary>
    public string? Repeat { get; init; }

    /// <summary>The first seed; drawn unless told.</summary>
    public int FirstSeed { get; init; } = Random.Shared.Next();

    /// <summary>Only mutants.</summary>
    public bool OnlyMutants { get; init; }

    /// <summary>Only this one.</summary>
    public string? Mutant { get; init; }

    /// <summary>How long a mutant may go unnoticed.</summary>
    public TimeSpan TimeOfMutant { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Whether the figures go to docs/reliability.md.</summary>
    public bool WritesPage { get; init; } = true;

    /// <summary>Whether they go there after a run of some modes only, too.</summary>
    public bool ForcesPage { get; init; }

    /// <summary>The long reader, and nothing else.</summary>
    public bool IsLongReader { get; init; }

    /// <summary>Not torturing, but being killed: the directory to write in.</summary>
    public string? KilledProcessDirectory { get; init; }

    /// <summary>Whether what it writes there is encrypted.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>So long mutants of a sample are hunted before the modes; zero: none.</summary>
    public TimeSpan TimeOfSample { get; init; }

    /// <summary>Only these modes; all where empty.</summary>
    public IReadOnlyList<string> Modes { get; init; } = [];

    /// <summary>Whether the whole server is tortured, and nothing else.</summary>
    public bool IsServer => Modes is [Servers.ServerTorture.ModeName];

    public bool IsHelp { get; init; }

    /// <summary>Whether the arguments are ours, and not the test platform's.</summary>
    public static bool AreIn(string[] arguments) => arguments.Any(argument => _names.Contains(argument));

    /// <summary>Reads them. Throws <see cref="ArgumentException"/> naming what is wrong.</summary>
    public static TortureOptions Parse(string[] arguments)
    {
        var options = new TortureOptions();
        for (int i = 0; i < arguments.Length; i++)
        {
            string name = arguments[i];
            options = name switch
            {
                "--minutes" => options with { Time = TimeSpan.FromMinutes(Number(arguments, ref i)) },
                "--seconds" => options with { Time = TimeSpan.FromSeconds(Number(arguments, ref i)) },
                "--threads" => options with { Threads = Math.Max(1, (int)Number(arguments, ref i)) },
                "--seed" => options with { Repeat = $"seeds:{(int)Number(arguments, ref i)}" },
                "--first" => options with { FirstSeed = (int)Number(arguments, ref i) },
                "--repeat" => options with { Repeat = Value(arguments, ref i) },
                "--encrypted" => options with { IsEncrypted = true },
                "--killed-process" => options with { KilledProcessDirectory = Value(arguments, ref i) },
                "--modes" or "--mode" => options with { Modes = Value(arguments, ref i).Split(',') },
                "--mutant" => options with { OnlyMutants = true, Mutant = Value(arguments, ref i) },
                "--mutant-seconds" => options with { TimeOfMutant = TimeSpan.FromSeconds(Number(arguments, ref i)) },
                "--page" => options with { ForcesPage = true },
                "--no-page" => options with { WritesPage = false },
                "--mutants" => options with { OnlyMutants = true },
                "--long-reader" => options with { IsLongReader = true },
                "--help" => options with { IsHelp = true },
                _ => throw new ArgumentException($"'{name}' is no option; --help tells them."),
            };
        }

        return options;
    }

    private static string Value(string[] arguments, ref int at) =>
        ++at < arguments.Length ? arguments[at] : throw new ArgumentException($"'{arguments[at - 1]}' needs a value.");

    private static double Number(string[] arguments, ref int at)
    {
        string name = arguments[at], value = Value(arguments, ref at);
        return double.TryParse(value, CultureInfo.InvariantCulture, out double number)
            ? number
            : throw new ArgumentException($"'{name}' needs a number, not '{value}'.");
    }
}
