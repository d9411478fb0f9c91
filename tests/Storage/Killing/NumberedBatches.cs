using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests.Killing;

/// <summary>
/// Batches whose content is derived from their number, so that it is known afterwards what must be there. Each value repeats
/// the numbers of its batch and entry.
/// </summary>
/// <remarks>
/// Each writer has its own tree with entries under (batch, index), and the number of its last batch under the empty key. The last
/// <see cref="Kept"/> batches are kept.
/// </remarks>
internal static class NumberedBatches
{
    public const int Writers = 3;

    private const int Kept = 40;
    private const int KeyBytes = 12;

    public static string TreeName(int writer) => $"writer-{writer}";

    /// <summary>The number of the last batch, or 0 if there is none.</summary>
    public static long Last(Tree? tree) =>
        tree is not null && tree.TryGet(default, out ReadOnlySpan<byte> last) ? BinaryPrimitives.ReadInt64LittleEndian(last) : 0;

    /// <summary>Writes the next batch; returns its number.</summary>
    public static long WriteNext(WriteTransaction transaction, int writer)
    {
        Tree tree = transaction.GetOrCreateTree(TreeName(writer));
        long batch = Last(tree) + 1;
        Span<byte> key = stackalloc byte[KeyBytes];
        for (int i = 0; i < Entries(batch); i++)
            Fill(tree.Reserve(Key(key, batch, i), Length(batch, i)), batch, i);
        for (int i = 0; batch > Kept && i < Entries(batch - Kept); i++)
            tree.Delete(Key(key, batch - Kept, i));
        BinaryPrimitives.WriteInt64LittleEndian(tree.Reserve(default, sizeof(long)), batch);
        return batch;
    }

    /// <summary>
    /// Fails unless a writer's tree contains exactly its last batches, complete, and at least everything acknowledged.
    /// </summary>
    public static void AssertWhole(ReadTransaction read, int writer, long acknowledged)
    {
        Tree? tree = read.FindTree(TreeName(writer));
        long last = Last(tree);
        Assert.True(
            last >= acknowledged, $"Writer {writer}: batch {acknowledged} was acknowledged, the last one found is {last}.");
        if (tree is null)
            return;

        long entries = 1;
        var key = new byte[KeyBytes];
        for (long batch = Math.Max(1, last - Kept + 1); batch <= last; batch++)
        {
            for (int i = 0; i < Entries(batch); i++, entries++)
            {
                var expected = new byte[Length(batch, i)];
                Fill(expected, batch, i);
                Assert.True(
                    tree.TryGet(Key(key, batch, i), out ReadOnlySpan<byte> value),
                    $"Writer {writer}: entry {i} of batch {batch} is missing; the last is {last}.");
                Assert.True(value.SequenceEqual(expected), $"Writer {writer}: entry {i} of batch {batch} has other bytes.");
            }
        }

        Assert.Equal(entries, tree.Count);
    }

    private static int Entries(long batch) => 1 + (int)(batch * 7 % 13);

    /// <summary>Mostly short; one in twenty is long enough for its own pages.</summary>
    private static int Length(long batch, int index) =>
        (batch + index) % 20 == 0 ? 9000 + index : (int)((batch * 31) + index) % 300;

    private static void Fill(Span<byte> room, long batch, int index)
    {
        Span<byte> name = stackalloc byte[KeyBytes];
        Key(name, batch, index);
        for (; room.Length > 0; room = room[Math.Min(room.Length, KeyBytes)..])
            name[..Math.Min(room.Length, KeyBytes)].CopyTo(room);
    }

    private static Span<byte> Key(Span<byte> key, long batch, int index)
    {
        BinaryPrimitives.WriteInt64BigEndian(key, batch);
        BinaryPrimitives.WriteInt32BigEndian(key[sizeof(long)..], index);
        return key;
    }
}
