using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Sorting;

/// <summary>A key part from the key of the entry; see <see cref="SortKind.Key"/>.</summary>
internal sealed class EntryKeyPart(QueryContext context, SortKey sort) : KeyPart
{
    public override void Append(long id, float score, KeyBuffer key)
    {
        ReadOnlySpan<byte> name = context.View.Entries.Get(id).Key;
        if (name.IndexOfAny((byte)0, byte.MaxValue) is >= 0 and var end)
            name = name[..end];
        int start = key.Length;
        if (sort.Kind == SortKind.AlphaNumericKey)
            key.AppendAlphaNumeric(name);
        else
            key.AppendText(name);
        key.EndText();
        if (sort.Descending)
            key.Flip(start);
    }
}
