using System.Globalization;

namespace Treepie.Torture;

/// <summary>The command line options.</summary>
internal sealed record TortureOptions
{
    private static readonly string[] _names =
    [
        "--minutes", "--seconds", "--seed", "--repeat", "--threads", "--first", "--mutants", "--long-reader", "--killed-process",
        "--faulty-process", "--modes", "--mode", "--mutant", "--mutant-seconds", "--no-page", "--page", "--help"
    ];

    /// <summary>Duration of the run.</summary>
    public TimeSpan Time { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>Number of threads.</summary>
    public int Threads { get; init; } = Environment.ProcessorCount;

    /// <summary>A single piece to repeat, as mode and number.</summary>
    public string? Repeat { get; init; }

    /// <summary>The first seed. Random by default.</summary>
    public int FirstSeed { get; init; } = Random.Shared.Next();

    /// <summary>Whether to run only mutants.</summary>
    public bool OnlyMutants { get; init; }

    /// <summary>The only mutant to run.</summary>
    public string? Mutant { get; init; }

    /// <summary>Maximum time to kill a mutant.</summary>
    public TimeSpan TimeOfMutant { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Whether to write the figures to docs/reliability.md.</summary>
    public bool WritesPage { get; init; } = true;

    /// <summary>Whether to write them even if only some modes were run.</summary>
    public bool ForcesPage { get; init; }

    /// <summary>Whether to run only the long reader.</summary>
    public bool IsLongReader { get; init; }

    /// <summary>Directory for a process that is started to be killed, instead of a torture run.</summary>
    public string? KilledProcessDirectory { get; init; }

    /// <summary>Directory for a process whose system fails, instead of a torture run.</summary>
    public string? FaultyProcessDirectory { get; init; }

    /// <summary>Number of the fault of that process.</summary>
    public int Fault { get; init; }

    /// <summary>Whether the environment in that directory is encrypted.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Time to run a sample of mutants before the modes; zero for none.</summary>
    public TimeSpan TimeOfSample { get; init; }

    /// <summary>The modes to run; empty for all.</summary>
    public IReadOnlyList<string> Modes { get; init; } = [];

    /// <summary>Whether to run only the torture test of the whole server.</summary>
    public bool IsServer => Modes is [Servers.ServerTorture.ModeName];

    public bool IsHelp { get; init; }

    /// <summary>Whether the arguments are for this program and not for the test platform.</summary>
    public static bool AreIn(string[] arguments) => arguments.Any(argument => _names.Contains(argument));

    /// <summary>Parses the arguments. Throws <see cref="ArgumentException"/> if they are wrong.</summary>
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
                "--faulty-process" => options with { FaultyProcessDirectory = Value(arguments, ref i) },
                "--fault" => options with { Fault = (int)Number(arguments, ref i) },
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
