using System.Buffers.Binary;
using Treepie.Storage.Tests.Killing;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// What the clients of a <see cref="FaultyProcess"/> write. Each counts: the number of its last command tells what must be there.
/// The writers of numbered batches come first, then one that overwrites more than fits into the memory budget, then one that
/// deletes what was there at the beginning.
/// </summary>
internal static class FaultyLedger
{
    public const int BulkClient = NumberedBatches.Writers;
    public const int RoomClient = BulkClient + 1;
    public const int Clients = RoomClient + 1;

    private const string BulkTree = "bulk";
    private const string RoomTree = "room";
    private const int BulkValues = 40;
    private const int BulkValueBytes = 60_000;
    private const int RoomValues = 200;
    private const int RoomValueBytes = 300;

    /// <summary>Writes what the last client deletes.</summary>
    public static void Fill(WriteTransaction transaction)
    {
        Tree room = transaction.GetOrCreateTree(RoomTree);
        for (int i = 0; i < RoomValues; i++)
            room.Reserve(Key(i), RoomValueBytes).Fill((byte)i);
    }

    /// <summary>Runs the next command of a client; returns its number.</summary>
    public static long WriteNext(WriteTransaction transaction, int client)
    {
        if (client < BulkClient)
            return NumberedBatches.WriteNext(transaction, client);

        Tree tree = transaction.GetOrCreateTree(client == BulkClient ? BulkTree : RoomTree);
        long next = (client == BulkClient ? NumberedBatches.Last(tree) : FirstLeft(tree)) + 1;
        if (client == RoomClient)
        {
            tree.Delete(Key(next - 1));
            return next;
        }

        for (int i = 0; i < BulkValues; i++)
            tree.Reserve(Key(i), BulkValueBytes).Fill((byte)next);
        BinaryPrimitives.WriteInt64LittleEndian(tree.Reserve(default, sizeof(long)), next);
        return next;
    }

    /// <summary>
    /// Throws unless every client's last command is whole, is not older than <paramref name="least"/>, and not newer than
    /// <paramref name="most"/>. Returns their numbers.
    /// </summary>
    public static long[] Verify(ReadTransaction read, ReadOnlySpan<long> least, long[]? most)
    {
        var last = new long[Clients];
        for (int client = 0; client < BulkClient; client++)
        {
            NumberedBatches.AssertWhole(read, client, least[client]);
            last[client] = NumberedBatches.Last(read.FindTree(NumberedBatches.TreeName(client)));
        }

        Tree? bulk = read.FindTree(BulkTree);
        last[BulkClient] = NumberedBatches.Last(bulk);
        for (int i = 0; bulk is not null && i < BulkValues; i++)
        {
            if (!bulk.TryGet(Key(i), out ReadOnlySpan<byte> value)
                || value.Length != BulkValueBytes
                || value.ContainsAnyExcept((byte)last[BulkClient]))
                throw new TortureFailure($"Value {i} of the large transaction {last[BulkClient]} has other bytes.");
        }

        last[RoomClient] = FirstLeft(read.FindTree(RoomTree));
        for (int client = 0; client < Clients; client++)
        {
            if (last[client] < least[client])
                throw new TortureFailure(
                    $"Client {client}: command {least[client]} was acknowledged, the last one found is {last[client]}.");
            if (most is not null && last[client] > most[client])
                throw new TortureFailure(
                    $"Client {client}: command {last[client]} is there, though it was told that nothing of it was kept.");
        }

        return last;
    }

    private static long FirstLeft(Tree? room)
    {
        if (room is null)
            return 0;

        using Cursor cursor = room.OpenCursor();
        return cursor.MoveFirst() ? BinaryPrimitives.ReadInt64BigEndian(cursor.Key) : RoomValues;
    }

    private static byte[] Key(long number)
    {
        var key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
