using System.Text;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>
/// Keys with a long common prefix fill a page to the last bytes, because the prefix is stored once; then a key without this
/// prefix is inserted. Regression test: the unchanged page was wrongly found too large for a page, and the command failed
/// with "cannot be
/// divided". Found by a salvage, which writes keys in order.
/// </summary>
public sealed class FullPageTests
{
    [Fact]
    public void A_key_without_the_prefix_of_a_full_page_finds_a_place_beside_it()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var prefix = new string('x', 1900);
        for (int valueBytes = 200; valueBytes < 420; valueBytes++)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree($"t{valueBytes}");
                var expected = new List<string>();
                for (int i = 0; i < 40; i++)
                {
                    expected.Add($"{prefix}{i:d3}");
                    tree.Put(Encoding.ASCII.GetBytes(expected[^1]), new byte[valueBytes]);
                    tree.Put([(byte)'y', (byte)i], "after"u8);
                    tree.Put([(byte)'a', (byte)i], "before"u8);
                    tree.Delete([(byte)'y', (byte)i]);
                    tree.Delete([(byte)'a', (byte)i]);
                }

                Assert.Equal(expected.Count, tree.Count);
                return true;
            });
        }

        Assert.Empty(environment.Check().Problems);
    }
}
