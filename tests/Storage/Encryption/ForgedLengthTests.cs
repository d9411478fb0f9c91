using Treepie.Storage.Format;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>A length in a page header must not be trusted before the page is decrypted.</summary>
public sealed class ForgedLengthTests
{
    private const int Values = 200;
    private const int LargeBytes = 20_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_value_with_a_wrong_length_on_disk_leaves_the_decrypted_pages_behind_it_alone(bool hasRightChecksum)
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        var options = new StorageOptions { EncryptionKey = key, DecryptedIdleTime = TimeSpan.FromDays(1) };
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, options))
            environment.Write(transaction =>
            {
                var tree = transaction.GetOrCreateTree("t");
                for (int i = 0; i < Values; i++)
                    tree.Put([(byte)i], ValueOf(i));
                return 0;
            });
        LengthenOneValue(Path.Combine(directory.Path, FormatLimits.DataFileName), hasRightChecksum);

        using StorageEnvironment opened = StorageEnvironment.Open(directory.Path, options);
        using ReadTransaction read = opened.BeginRead();
        Tree found = read.FindTree("t")!;
        for (int pass = 0; pass < 2; pass++)
        {
            var damaged = new List<int>();
            for (int i = 0; i < Values; i++)
            {
                try
                {
                    Assert.True(found.TryGet([(byte)i], out ReadOnlySpan<byte> value));
                    Assert.Equal(ValueOf(i), value.ToArray());
                }
                catch (CorruptionException)
                {
                    damaged.Add(i);
                }
            }

            Assert.Single(damaged);
        }
    }

    private static void LengthenOneValue(string file, bool hasRightChecksum)
    {
        byte[] bytes = File.ReadAllBytes(file);
        int[] runs =
        [
            .. Enumerable.Range((int)FormatLimits.FirstDataPage, (bytes.Length / PageLayout.SizeBytes) - 40)
                .Where(number => new Page(bytes.AsSpan(number * PageLayout.SizeBytes)) is var page
                    && page.Number == number && page.Type == PageType.Overflow && page.ValueLength == LargeBytes)
        ];
        int offset = runs[runs.Length / 2] * PageLayout.SizeBytes; // other runs follow it
        int length = LargeBytes + (30 * PageLayout.SizeBytes);
        Span<byte> run = bytes.AsSpan(offset, PageLayout.RunPages(length) * PageLayout.SizeBytes);
        var header = new Page(run) { ValueLength = length };
        if (hasRightChecksum)
            header.Checksum = Page.ComputeChecksum(run);
        File.WriteAllBytes(file, bytes);
    }

    private static byte[] ValueOf(int number)
    {
        var value = new byte[LargeBytes];
        value.AsSpan().Fill((byte)number);
        return value;
    }
}
