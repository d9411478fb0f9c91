using System.Diagnostics;
using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// A real process on a real disk whose system calls fail from some moment on (<see cref="SystemFault"/>), until it is killed. Its
/// clients must see the errors that are promised and no others. Then the directory is opened on a system that works: what was
/// acknowledged must be there, what was refused must not, and nothing in part.
/// </summary>
internal sealed class SystemErrorsMode : IMode
{
    public const string ModeName = "system-errors";

    private const int Rounds = 2;
    private const int MaxLinesAfter = 200;
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(2);

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece / SystemFault.All.Count % 2 == 1;

    public void Run(long piece, Tally tally)
    {
        if (!SystemCallFilter.IsKnownMachine)
        {
            tally.AddSkipped($"{ModeName} was skipped: it needs Linux on x64 or arm64.");
            return;
        }

        using var directory = new TemporaryDirectory();
        var random = new Random(unchecked((int)piece));
        int fault = (int)(piece % SystemFault.All.Count);
        EncryptionKey? key = IsEncrypted(piece) ? UserKeys.Of(0) : null;
        using (StorageEnvironment environment = Open(directory.Path, key))
        {
            environment.Write(transaction =>
            {
                FaultyLedger.Fill(transaction);
                return true;
            });
        }

        var seen = new Outcomes();
        for (int round = 0; round < Rounds; round++)
        {
            try
            {
                if (RunAndKill(directory.Path, key is not null, fault, random, seen) is { } reason)
                {
                    if (Requirement.All)
                        throw new TortureFailure(reason);
                    tally.AddSkipped($"{ModeName} was skipped: {reason}");
                    return;
                }

                // Every second verification is read-only, so that the next process recovers what this one left.
                using StorageEnvironment environment = Open(directory.Path, key, isReadOnly: round % 2 == 0);
                QuietOracle.VerifyCheck(environment);
                using (ReadTransaction read = environment.BeginRead())
                    seen.Begin(FaultyLedger.Verify(read, seen.Least, seen.Most));
                if (!environment.IsReadOnly)
                    environment.Write(static transaction => FaultyLedger.WriteNext(transaction, FaultyLedger.RoomClient));
            }
            catch (Exception error) when (error is not OperationCanceledException)
            {
                throw new TortureFailure($"({SystemFault.All[fault].Name}) {error.Message}", [.. seen.Lines.TakeLast(60)], error);
            }
        }
    }

    private static StorageEnvironment Open(string directory, EncryptionKey? key, bool isReadOnly = false) =>
        StorageEnvironment.Open(directory, RealClients.Options with { ReadOnly = isReadOnly, EncryptionKey = key });

    /// <summary>
    /// Starts a process and kills it some lines after its system began to fail, or when it has done all it does then. Returns why
    /// no call can be refused, or null.
    /// </summary>
    private static string? RunAndKill(string directory, bool isEncrypted, int fault, Random random, Outcomes seen)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(
            typeof(SystemErrorsMode).Assembly.Location,
            [
                "--faulty-process", directory, "--fault", fault.ToString(CultureInfo.InvariantCulture),
                "--first", random.Next().ToString(CultureInfo.InvariantCulture),
                .. isEncrypted ? (string[])["--encrypted"] : [],
            ]);
        start.Environment["DOTNET_EnableWriteXorExecute"] = "0"; // the runtime maps a file of its own for that
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("The process did not start.");
        process.StandardInput.Close();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        bool isSlow = false;
        using var watch = new Timer(_ =>
        {
            isSlow = true;
            try
            {
                process.Kill();
            }
            catch (InvalidOperationException)
            {
                // it has ended meanwhile
            }
        });
        watch.Change(_patience, Timeout.InfiniteTimeSpan);
        int left = random.Next(MaxLinesAfter);
        bool isEnded = false;
        try
        {
            while (!isEnded && (!seen.HasFault || left-- > 0))
            {
                if (process.StandardOutput.ReadLine() is not { } line)
                    break;
                watch.Change(_patience, Timeout.InfiniteTimeSpan); // since its last word
                if (line.StartsWith(FaultyProcess.Unavailable, StringComparison.Ordinal))
                    return $"this system lets no program refuse its own calls ({line.TrimEnd(';')}: seccomp).";
                isEnded = line == FaultyProcess.Ended;
                seen.Note(line);
            }

            if (!isEnded && left >= 0)
                throw new TortureFailure(
                    isSlow
                        ? $"The process did nothing for {_patience.TotalMinutes} minutes."
                        : $"The process ended by itself: {errors.GetAwaiter().GetResult()}");
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
        }

        while (process.StandardOutput.ReadLine() is { } line)
            seen.Note(line);
        return null;
    }

    /// <summary>What a process said, and what must be there therefore.</summary>
    private sealed class Outcomes
    {
        private readonly bool[] _isOpen = new bool[FaultyLedger.Clients];
        private readonly bool[] _isUnknown = new bool[FaultyLedger.Clients];

        public List<string> Lines { get; } = [];

        public bool HasFault { get; private set; }

        /// <summary>For each client, its last command that was acknowledged.</summary>
        public long[] Least { get; private set; } = new long[FaultyLedger.Clients];

        /// <summary>For each client, the last command that may be there.</summary>
        public long[] Most =>
            [.. Least.Select((number, client) => number + (_isOpen[client] || _isUnknown[client] ? 1 : 0))];

        public void Begin(long[] found)
        {
            Least = found;
            HasFault = false;
            Array.Clear(_isOpen);
            Array.Clear(_isUnknown);
            Lines.Clear();
        }

        /// <summary>Notes a line; the last one of a killed process may be incomplete.</summary>
        public void Note(string line)
        {
            Lines.Add(line);
            if (line.StartsWith(KilledProcess.Broken, StringComparison.Ordinal))
                throw new TortureFailure($"The process found: {line[KilledProcess.Broken.Length..]}");
            if (line == FaultyProcess.Installed)
                HasFault = true;
            string[] parts = line.TrimEnd(';').Split(' ');
            if (!line.EndsWith(';') || parts.Length < 2)
                return;

            int client = int.Parse(parts[1], CultureInfo.InvariantCulture);
            _isOpen[client] = parts[0] == "try";
            _isUnknown[client] |= parts[0] == "unknown";
            if (parts[0] == "ack")
                Least[client] = long.Parse(parts[2], CultureInfo.InvariantCulture);
        }
    }
}
