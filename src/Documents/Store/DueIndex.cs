using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// The index of times: which documents are due for an action, and when. Written in the same commit as the document.
/// <code>
/// KEY                                            VALUE
/// action 1, UTC ticks 8 (big-endian), folded id  nothing
/// 00 01                                          progress of the roll-ups of time series, JSON
/// 00                                             etag 8 (little-endian) up to which documents have been scanned; the maximum
///                                                when all have
/// </code>
/// Documents written before this tree existed are scanned once, by the first action. Created with the first time.
/// </summary>
internal sealed class DueIndex(Func<string, Tree?> find, Func<string, Tree>? make = null)
{
    private const int PrefixBytes = 1 + sizeof(long);

    private static readonly byte[] _progress = [0], _rollUps = [0, 1];

    /// <summary>Opens the index for reading and writing.</summary>
    public static DueIndex Of(WriteTransaction transaction) => new(transaction.FindTree, transaction.GetOrCreateTree);

    /// <summary>The etag up to which older documents have been scanned; the maximum when all have.</summary>
    public long ScannedUpTo =>
        find(TreeNames.Due) is { } tree && tree.TryGet(_progress, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;

    /// <summary>The progress of the roll-ups of time series; empty if there were none.</summary>
    public ReadOnlySpan<byte> RollUps =>
        find(TreeNames.Due) is { } tree && tree.TryGet(_rollUps, out ReadOnlySpan<byte> value) ? value : default;

    /// <summary>Stores the progress of roll-ups.</summary>
    public void SetRollUps(ReadOnlySpan<byte> value) => Tree.Put(_rollUps, value);

    /// <summary>Adds an entry.</summary>
    public void Put(DueAction action, long ticks, ReadOnlySpan<byte> foldedId) => Tree.Put(Key(action, ticks, foldedId), default);

    /// <summary>Returns whether an action has due entries.</summary>
    public bool HasDue(DueAction action, long nowTicks) => Due(action, nowTicks, 1).Count > 0;

    /// <summary>Returns the keys of due entries, oldest first, up to a limit.</summary>
    public List<byte[]> Due(DueAction action, long nowTicks, int limit)
    {
        var keys = new List<byte[]>();
        if (find(TreeNames.Due) is not { } tree)
            return keys;
        using Cursor cursor = tree.OpenCursor();
        for (bool found = cursor.Seek([(byte)action]); found && keys.Count < limit; found = cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = cursor.Key;
            if (key[0] != (byte)action || TicksOf(key) > nowTicks)
                break;
            keys.Add(key.ToArray());
        }

        return keys;
    }

    /// <summary>Updates the entries of a document whose times have changed.</summary>
    public void Move(ReadOnlySpan<byte> foldedId, DueTimes before, DueTimes after)
    {
        if (before == after)
            return;
        foreach (DueAction action in (ReadOnlySpan<DueAction>)[DueAction.Expire, DueAction.Refresh, DueAction.Archive])
            if (before[action] != after[action])
                Move(action, foldedId, before[action], after[action]);
    }

    /// <summary>
    /// Updates the entry of an action whose time may have changed; 0 stands for none. An entry that an older version of the
    /// program did not make is made.
    /// </summary>
    public void Move(DueAction action, ReadOnlySpan<byte> foldedId, long before, long after)
    {
        if (before != 0 && before != after)
            Tree.Delete(Key(action, before, foldedId));
        if (after != 0)
            Tree.Put(Key(action, after, foldedId), default);
    }

    /// <summary>Removes an entry.</summary>
    public void Delete(ReadOnlySpan<byte> key) => Tree.Delete(key);

    /// <summary>Records that documents up to an etag have been scanned.</summary>
    public void SetScanned(long upToEtag)
    {
        byte[] value = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(value, upToEtag);
        Tree.Put(_progress, value);
    }

    public static ReadOnlySpan<byte> IdOf(ReadOnlySpan<byte> key) => key[PrefixBytes..];

    public static long TicksOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[1..]);

    private Tree Tree => make!(TreeNames.Due); // indexes that are written to were created with this function

    private static byte[] Key(DueAction action, long ticks, ReadOnlySpan<byte> foldedId)
    {
        byte[] key = new byte[PrefixBytes + foldedId.Length];
        key[0] = (byte)action;
        BinaryPrimitives.WriteInt64BigEndian(key.AsSpan(1), ticks);
        foldedId.CopyTo(key.AsSpan(PrefixBytes));
        return key;
    }
}
