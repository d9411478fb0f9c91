using System.Diagnostics;
using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// A real process with real threads, killed (SIGKILL) at random moments, over and over on the same files of a real disk. What it
/// acknowledged must be there, nothing may be there in part, and the next process continues from it.
/// </summary>
internal sealed class KilledProcessMode : IMode
{
    public const string ModeName = "killed-processes";

    private const int Rounds = 3;
    private const int MaxAcknowledgements = 300;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece % 2 == 1;

    public void Run(long piece, Tally tally)
    {
        using var directory = new TemporaryDirectory();
        var random = new Random(unchecked((int)piece));
        var acknowledged = new long[RealClients.Writers];
        for (int round = 0; round < Rounds; round++)
        {
            RunAndKill(directory.Path, IsEncrypted(piece), random.Next(), random.Next(MaxAcknowledgements), acknowledged);

            // Every second verification is read-only, so that the next process recovers what the killed one left.
            using StorageEnvironment environment = StorageEnvironment.Open(
                directory.Path,
                RealClients.Options with
                {
                    ReadOnly = round % 2 == 0,
                    EncryptionKey = IsEncrypted(piece) ? UserKeys.Of(0) : null
                });
            QuietOracle.VerifyCheck(environment);
            using ReadTransaction read = environment.BeginRead();
            RealClients.Verify(read, acknowledged);
        }
    }

    /// <summary>
    /// Starts a process, kills it after some acknowledgements and a moment more, and records everything that it printed
    /// until then.
    /// </summary>
    private static void RunAndKill(string directory, bool isEncrypted, int seed, int acknowledgements, long[] acknowledged)
    {
        using Process process = Process.Start(BuiltProgram.StartInfo(
            typeof(KilledProcessMode).Assembly.Location,
            ["--killed-process", directory, "--first", seed.ToString(CultureInfo.InvariantCulture), .. isEncrypted
                ? (string[])["--encrypted"]
                : []]))
            ?? throw new InvalidOperationException("The process did not start.");
        process.StandardInput.Close();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        try
        {
            for (int i = 0; i <= acknowledgements; i++)
                if (!TryNote(process.StandardOutput.ReadLine(), acknowledged))
                    throw new TortureFailure($"The process ended by itself: {errors.GetAwaiter().GetResult()}");
            Thread.SpinWait(seed % 200_000); // a moment independent of thread scheduling
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
        }

        while (TryNote(process.StandardOutput.ReadLine(), acknowledged))
        {
        }
    }

    /// <summary>Records an acknowledgement. Returns false at the end, even if the last line is incomplete.</summary>
    private static bool TryNote(string? line, long[] acknowledged)
    {
        if (line?.StartsWith(KilledProcess.Broken, StringComparison.Ordinal) == true)
            throw new TortureFailure(
                $"A process that was about to be killed found: {line[KilledProcess.Broken.Length..]}", line.Split(" | "));
        if (line is null || !line.EndsWith(';'))
            return false;

        string[] parts = line.TrimEnd(';').Split(' ');
        ref long last = ref acknowledged[int.Parse(parts[0], CultureInfo.InvariantCulture)];
        last = Math.Max(last, long.Parse(parts[1], CultureInfo.InvariantCulture));
        return true;
    }
}
