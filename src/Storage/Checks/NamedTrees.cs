using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>Reads the entries of a catalogue as far as possible.</summary>
internal static class NamedTrees
{
    /// <summary>
    /// Passes every name with its record to a callback, in byte order. The record is null if it is invalid. Damaged pages are
    /// skipped.
    /// </summary>
    public static void Read(
        PageStore store, TreeRecord catalogue, PageSet reached, Action<string, TreeRecord?> onName, Action<LostRange> onLost,
        CancellationToken cancellationToken) =>
        new LenientWalk(store, reached, cancellationToken).Run(catalogue, (leaf, _) => ReadLeaf(leaf, onName), onLost);

    /// <summary>Reads the names in one leaf of a catalogue.</summary>
    public static void ReadLeaf(Trees.SlottedPage leaf, Action<string, TreeRecord?> onName)
    {
        for (int i = 0; i < leaf.Count; i++)
        {
            ReadOnlySpan<byte> value = leaf.Value(i, out bool isOverflow);
            onName(
                Encoding.UTF8.GetString(LenientWalk.KeyOf(leaf, i)),
                !isOverflow && TreeRecord.FindFault(value) is null ? TreeRecord.Read(value) : null);
        }
    }
}
