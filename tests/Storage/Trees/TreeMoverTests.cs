using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class TreeMoverTests
{
    /// <summary>
    /// There are more shapes than a branch has children, and each has one leaf less than the previous one. So in one of them
    /// the first visit ends at a branch, whose first key has no meaning.
    /// </summary>
    [Fact]
    public void A_visit_that_ends_at_a_branch_does_not_begin_again()
    {
        const int KeysPerLeaf = 3, Keys = KeysPerLeaf * 2_900, Shapes = 350;
        using var folder = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path);
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            byte[] key = new byte[sizeof(long)], value = new byte[FormatLimits.MaxInlineValueBytes];
            for (int i = 0; i < Keys; i++)
            {
                BinaryPrimitives.WriteInt64BigEndian(key, i);
                tree.Put(key, value);
            }

            for (int shape = 0; shape < Shapes; shape++)
            {
                byte[]? next = Visit([]);
                Assert.True(next is not null && Visit(next) is null, $"{shape} leaves less: two visits do not reach the end");
                for (int i = shape * KeysPerLeaf; i < (shape + 1) * KeysPerLeaf; i++)
                {
                    BinaryPrimitives.WriteInt64BigEndian(key, i);
                    tree.Delete(key);
                }
            }

            return true;

            byte[]? Visit(byte[] from) => new TreeMover(
                tree, transaction.Batch.Pages, new MoveChoice(From: long.MaxValue, BornUpTo: 1), seenUpTo: -1).Run(from);
        });
    }
}
