using System.Diagnostics;
using System.Globalization;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Killing;

/// <summary>A real process, really killed, over and over on the same files.</summary>
public sealed class KilledProcessTests
{
    private const int Rounds = 15;
    private const int MaxAcknowledgements = 250;

    [Fact]
    public void A_killed_process_loses_nothing_acknowledged_and_leaves_nothing_in_part()
    {
        using var directory = new TemporaryDirectory();
        var random = new Random(Seed.Next());
        var acknowledged = new long[NumberedBatches.Writers];
        for (int round = 0; round < Rounds; round++)
        {
            RunAndKill(directory.Path, 1 + random.Next(MaxAcknowledgements), acknowledged);

            // Every second look changes nothing, so that the next child recovers what the killed one left.
            using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, KilledChild.Options with { ReadOnly = round % 2 == 0 });
            Assert.Empty(environment.Check().Problems);
            using ReadTransaction read = environment.BeginRead();
            for (int writer = 0; writer < NumberedBatches.Writers; writer++)
                NumberedBatches.AssertWhole(read, writer, acknowledged[writer]);
        }

        Assert.All(acknowledged, last => Assert.True(last > Rounds, $"Only {last} batches of a writer were acknowledged in {Rounds} rounds."));
    }

    /// <summary>Starts a child, kills it in the middle of its work after some acknowledgements, and notes all that it had printed by then.</summary>
    private static void RunAndKill(string directory, int acknowledgements, long[] acknowledged)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardOutput = true, RedirectStandardError = true }; // a process has a path
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet")
            start.ArgumentList.Add(typeof(KilledChild).Assembly.Location);
        start.Environment[KilledChild.DirectoryVariable] = directory;
        using Process child = Process.Start(start) ?? throw new InvalidOperationException("The child did not start.");
        Task<string> errors = child.StandardError.ReadToEndAsync();
        try
        {
            for (int i = 0; i < acknowledgements; i++)
                if (!TryNote(child.StandardOutput.ReadLine(), acknowledged))
                    Assert.Fail($"The child ended by itself: {errors.GetAwaiter().GetResult()}");
        }
        finally
        {
            child.Kill();
            child.WaitForExit();
        }

        while (TryNote(child.StandardOutput.ReadLine(), acknowledged))
        {
        }
    }

    /// <summary>Notes an acknowledgement; false at the end, also where the last line was cut off.</summary>
    private static bool TryNote(string? line, long[] acknowledged)
    {
        if (line is null || !line.EndsWith(';'))
            return false;

        string[] parts = line.TrimEnd(';').Split(' ');
        ref long last = ref acknowledged[int.Parse(parts[0], CultureInfo.InvariantCulture)];
        last = Math.Max(last, long.Parse(parts[1], CultureInfo.InvariantCulture));
        return true;
    }
}
