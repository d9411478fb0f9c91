using System.Diagnostics;
using System.Globalization;
using Treepie.Tests.Support;

namespace Treepie.Torture;

/// <summary>
/// Runs each mutant of the engine in its own process. It is killed by a violated guarantee, the death of the process, or a
/// hang. A kill counts only if the engine without mutants passes the piece that killed it.
/// </summary>
internal sealed class MutantHunt
{
    /// <summary>
    /// Mutants get seconds of CPU time, which take longer on a busy machine: after this many times as long, a mutant counts
    /// as hanging.
    /// </summary>
    private const int SlowestMachine = 12;

    private readonly List<(string Name, string What)> _mutants;
    private readonly string _program;
    private readonly List<(string Name, string What)> _survivors = [];
    private readonly List<string> _unproven = [];
    private readonly List<(string Name, string Piece)> _kills = [];
    private readonly Action<string> _say;
    private readonly Lock _lock = new();

    public MutantHunt(Action<string> say)
    {
        _say = say;
        _program = Find();
        _mutants = [.. Start(0, Eventually.Patience, "--list").Lines.Select(line => (line.Split('\t')[0], line.Split('\t')[^1]))];
        if (_mutants.Count == 0)
            throw new InvalidOperationException($"'{_program} --list' names no mutants.");
    }

    public int Count => _mutants.Count;

    public int Killed => _kills.Count;

    /// <summary>Mutants that were not killed, and what they break.</summary>
    public IReadOnlyList<(string Name, string What)> Survivors => _survivors;

    /// <summary>Kills by pieces that the unchanged engine does not pass either, as messages.</summary>
    public IReadOnlyList<string> Unproven => _unproven;

    /// <summary>Runs all mutants, or one by name, each for at most <paramref name="time"/>.</summary>
    public void Run(TimeSpan time, int threads, string? only = null)
    {
        int next = 0;
        Work(threads, () =>
        {
            while (Interlocked.Increment(ref next) is var number && number <= _mutants.Count)
                if (only is null || _mutants[number - 1].Name == only)
                    Hunt(number, time, pieces: null, first: 1);
        });
        VerifyControl();
    }

    /// <summary>
    /// Runs some of the mutants until the time is over, starting with one chosen by the seed. Each runs a fixed number of
    /// pieces, many times what it takes to kill any of them, independent of the speed of the machine. A mutant cut off by
    /// the end of the time does not count as a survivor.
    /// </summary>
    public void RunSample(int seed, TimeSpan time, long pieces, int threads)
    {
        var watch = Stopwatch.StartNew();
        int next = new Random(seed).Next(_mutants.Count);
        Work(threads, () =>
        {
            for (int taken = 0; watch.Elapsed < time && taken < _mutants.Count; taken++)
                Hunt(
                    (int)((uint)Interlocked.Increment(ref next) % (uint)_mutants.Count) + 1, time - watch.Elapsed, pieces,
                    first: 1);
        });
        VerifyControl();
    }

    /// <summary>
    /// Runs pieces of a mode with no mutant on. Returns a description of the failure with the piece, or null.
    /// </summary>
    public string? RunUnchanged(string mode, long first, int pieces)
    {
        (int code, List<string> lines, string error) = Start(
            0, Eventually.Patience, "--modes", mode, "--first", first.ToString(CultureInfo.InvariantCulture), "--pieces",
            pieces.ToString(CultureInfo.InvariantCulture), "--seconds", "3600");
        return code == 0 ? null : $"{string.Join(", ", lines.TakeLast(2))} {error}";
    }

    private static void Work(int threads, Action work)
    {
        Thread[] workers = [.. Enumerable.Range(0, threads).Select(_ => new Thread(() => work()) { IsBackground = true })];
        foreach (Thread worker in workers)
            worker.Start();
        foreach (Thread worker in workers)
            worker.Join();
    }

    private void Hunt(int number, TimeSpan time, long? pieces, long first)
    {
        (string name, string what) = _mutants[number - 1];
        bool isHurried = pieces is not null;
        (int code, List<string> lines, string error) = Start(
            number, isHurried ? time + TimeSpan.FromSeconds(10) : SlowestMachine * (time + TimeSpan.FromSeconds(2)),
            "--seconds", time.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture), "--first",
            first.ToString(CultureInfo.InvariantCulture), "--pieces", (pieces ?? -1).ToString(CultureInfo.InvariantCulture));
        string last = lines.LastOrDefault() ?? "";
        string? piece = lines.FindLast(line => line.StartsWith("at ", StringComparison.Ordinal))?[3..];
        lock (_lock)
        {
            if (isHurried && (code < 0 || (code == 0 && last != "all pieces done")))
            {
                _say($"mutant {name}: no time left to notice it");
            }
            else if (code == 0)
            {
                _survivors.Add((name, what));
                _say($"mutant {name} SURVIVES: {what}");
            }
            else
            {
                _kills.Add((name, piece ?? ""));
                _say(
                    $"mutant {name}: "
                        + $"{(last.StartsWith("killed ", StringComparison.Ordinal) ? last[7..] : error.Length > 0 ? $"the process died in {piece}: {error}" : $"hangs in {piece}")}");
            }
        }
    }

    /// <summary>Verifies that the unchanged engine passes every piece that killed a mutant.</summary>
    private void VerifyControl()
    {
        string[] pieces = [.. _kills.Select(kill => kill.Piece).Where(piece => piece.Length > 0).Distinct()];
        if (pieces.Length == 0)
            return;

        (int code, List<string> lines, string error) = Start(0, Eventually.Patience, ["--again", .. pieces]);
        if (code == 0)
        {
            _say($"the engine without a mutant passes the {pieces.Length} pieces that noticed one");
            return;
        }

        foreach (string line in lines.Where(line => line.StartsWith("fails ", StringComparison.Ordinal)))
        {
            string[] parts = line.Split(' ', 3);
            string names = string.Join(", ", _kills.Where(kill => kill.Piece == parts[1]).Select(kill => kill.Name));
            _kills.RemoveAll(kill => kill.Piece == parts[1]);
            _unproven.Add($"{names}: what noticed it, {parts[1]}, fails without it too: {parts[2]}");
        }

        if (_unproven.Count == 0)
            _unproven.Add(
                $"The engine without a mutant does not get through the pieces that noticed one: {error} "
                    + $"({string.Join(' ', pieces)})");
        _say(_unproven[^1]);
    }

    private (int Code, List<string> Lines, string Error) Start(int mutant, TimeSpan limit, params ReadOnlySpan<string> arguments)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(_program, arguments);
        start.Environment["TREEPIE_MUTANT"] = mutant.ToString(CultureInfo.InvariantCulture);
        using Process process = Process.Start(start) ?? throw new InvalidOperationException($"'{_program}' did not start.");
        process.StandardInput.Close();
        var lines = new List<string>();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        Task output = Task.Run(() =>
        {
            while (process.StandardOutput.ReadLine() is { } line)
                lock (lines)
                    lines.Add(line);
        });
        bool hasEnded = process.WaitForExit(limit);
        if (!hasEnded)
        {
            process.Kill();
            process.WaitForExit();
        }

        output.GetAwaiter().GetResult();
        string error = errors.GetAwaiter().GetResult().Split('\n')[0].Trim();
        return (hasEnded ? process.ExitCode : -1, lines, hasEnded ? error : "");
    }

    private static string Find()
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string configuration = framework.Parent?.Name ?? "Debug";
        string path = Path.Combine(
            DataSets.RepositoryRoot, "tests", "Mutants", "bin", configuration, framework.Name, "Treepie.Mutants.dll");
        return File.Exists(path)
            ? path
            : throw new InvalidOperationException($"There is no {path}: build tests/Mutants in {configuration} first.");
    }
}
