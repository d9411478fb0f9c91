using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>What a catalogue names, as far as it can be read.</summary>
internal static class NamedTrees
{
    /// <summary>
    /// Tells every name with its record, in byte order; the record is null where it cannot be one. Damaged pages are passed over.
    /// </summary>
    public static void Read(
        PageStore store, TreeRecord catalogue, PageSet reached, Action<string, TreeRecord?> onName, Action<LostRange> onLost,
        CancellationToken cancellationToken) =>
        new LenientWalk(store, reached, cancellationToken).Run(catalogue, (leaf, _) => ReadLeaf(leaf, onName), onLost);

    /// <summary>The names of one leaf of a catalogue.</summary>
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
