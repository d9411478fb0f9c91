using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>
/// Writes entries to one tree of the target, many per transaction, with bounded memory: long values are copied directly from
/// the source pages.
/// </summary>
internal sealed class SalvageWriter(StorageEnvironment target, PageStore source, string tree)
{
    private const int MaxBatchBytes = 1 << 20;

    private readonly List<Entry> _entries = [];
    private long _bytes;

    public void Add(byte[] key, ReadOnlySpan<byte> value) => Add(new Entry(key, value.ToArray(), default), value.Length);

    /// <summary>Adds a value in an overflow run that was already read and verified.</summary>
    public void Add(byte[] key, OverflowReference run) => Add(new Entry(key, null, run), run.LengthBytes);

    /// <summary>Writes the entries added. Creates the tree even if there are none.</summary>
    public void Flush()
    {
        Debug.Assert(_entries.Count > 0 || _bytes == 0, "only entries that wait have bytes");
        target.Write(transaction =>
        {
            Tree destination = transaction.GetOrCreateTree(tree);
            foreach (Entry entry in _entries)
                destination.Put(entry.Key, entry.Value is { } value ? value : source.ReadRun(entry.Run));
            return true;
        });
        _entries.Clear();
        _bytes = 0;
    }

    private void Add(Entry entry, long valueBytes)
    {
        _entries.Add(entry);
        _bytes += entry.Key.Length + valueBytes;
        if (_bytes >= MaxBatchBytes)
            Flush();
    }

    private sealed record Entry(byte[] Key, byte[]? Value, OverflowReference Run);
}
