using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// What a core dump of a process would hold that has an encrypted database open and no transaction: no id, field or metadata of
/// its documents in the memory of the engine, nor the key; of the plain twin it holds them. Read from the process as the kernel
/// reads it for a dump: every readable mapping but those that asked to be left out, in which are the keys and the pages that wait
/// for a checkpoint. Not looked at is the heap of the garbage collector: the caller's strings and the arrays of a batch stay
/// there until something else takes their place.
/// </summary>
public sealed class CoreDumpTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task No_document_is_in_a_core_dump_taken_while_no_transaction_is_open()
    {
        Requirement.Needs(OperatingSystem.IsLinux(), "The memory of another process as a file", "Run it on Linux.");
        byte[] key = RandomNumberGenerator.GetBytes(32);
        string seed = Guid.NewGuid().ToString("N");
        IReadOnlyList<string> markers = DumpedChild.Markers(seed);

        HashSet<string> inPlain = await LookAsync(seed, null, markers);
        Assert.True(
            inPlain.Count >= markers.Count * 9 / 10,
            $"Only {inPlain.Count} of {markers.Count} markers are in the memory of the plain twin: the test does not look where "
                + $"they are.");
        HashSet<string> inSecret = await LookAsync(seed, key, markers);
        Assert.True(
            inSecret.Count == 0,
            $"{inSecret.Count} of {markers.Count} markers are in memory, for instance {string.Join(", ", inSecret.Take(3))}.");
    }

    private static async Task<HashSet<string>> LookAsync(string seed, byte[]? key, IReadOnlyList<string> markers)
    {
        using var directory = new TemporaryDirectory();
        var start = new ProcessStartInfo(Environment.ProcessPath!) // a running test has a program
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment[DumpedChild.DirectoryVariable] = Path.Combine(directory.Path, "db");
        start.Environment[DumpedChild.SeedVariable] = seed;
        start.Environment[DumpedChild.KeyVariable] = key is null ? "" : Convert.ToHexString(key);
        using Process child = Process.Start(start)!; // a new process, so never null
        try
        {
            string? line = await child.StandardOutput.ReadLineAsync(Token);
            Assert.True(
                line?.StartsWith(DumpedChild.Ready, StringComparison.Ordinal) == true,
                $"The child said '{line}': {(line is null ? await child.StandardError.ReadToEndAsync(Token) : "")}");
            Requirement.Needs(ProcessMemory.CanRead(child.Id), "The right to look into a process of one's own", "Allow ptrace.");
            var patterns = new MarkerSet(markers);
            var found = new HashSet<string>();
            // it is ready, so there is a line
            long heap = long.Parse(line![(DumpedChild.Ready.Length + 1)..], NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            ProcessMemory.Read(child.Id, heap, (mapping, block) =>
            {
                int before = found.Count;
                patterns.Find(block, found);
                if (found.Count > before && key is not null)
                    TestContext.Current.TestOutputHelper?.WriteLine($"{found.Count - before} in {mapping}");
                if (key is not null)
                    Assert.Equal(-1, block.IndexOf(key));
            });
            return found;
        }
        finally
        {
            child.Kill();
            await child.WaitForExitAsync(CancellationToken.None);
        }
    }

    /// <summary>Many markers looked for at once: they have a beginning in common that nothing else has.</summary>
    private sealed class MarkerSet(IReadOnlyList<string> markers)
    {
        private readonly Dictionary<string, string> _byWord = markers.ToDictionary(
            marker => marker[^DumpedChild.MarkerLength..], marker => marker);
        private readonly string _beginning = markers[0][^DumpedChild.MarkerLength..][..DumpedChild.CommonLength];

        /// <summary>Adds what is in a block, in UTF-8 or UTF-16.</summary>
        public void Find(ReadOnlySpan<byte> block, HashSet<string> found)
        {
            Find(block, Encoding.UTF8, DumpedChild.MarkerLength, found);
            Find(block, Encoding.Unicode, DumpedChild.MarkerLength * 2, found);
        }

        private void Find(ReadOnlySpan<byte> block, Encoding encoding, int lengthBytes, HashSet<string> found)
        {
            ReadOnlySpan<byte> beginning = encoding.GetBytes(_beginning);
            for (int at; (at = block.IndexOf(beginning)) >= 0 && at + lengthBytes <= block.Length; block = block[(at + 1)..])
                if (_byWord.TryGetValue(encoding.GetString(block.Slice(at, lengthBytes)), out string? marker))
                    found.Add(marker);
        }
    }
}
