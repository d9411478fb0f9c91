using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// The texts of numbers among other texts. A field of only numbers with plain text stores no texts; they are computed on
/// demand (<see cref="NumberTextCursor"/>), which saves a tenth of an index with two numbers per entry, and half of the work
/// of indexing them. Once a field has any other text, listing all texts in order would require merging two dictionaries in
/// which an entry may appear twice, so from then on the dictionary of texts contains all of them. Used by one commit at a
/// time.
/// </summary>
internal sealed class NumberTexts
{
    /// <summary>Largest buffer that is kept.</summary>
    private const int KeepBytes = 1 << 20;

    private readonly TermTable _added = new();
    private readonly TermTable _removed = new();
    private readonly PostingBuffer _postings = new(keepsPositions: false);
    private readonly ushort[] _offsets = new ushort[PostingWindow.Size];
    private readonly int[] _frequencies = new int[PostingWindow.Size];

    /// <summary>Whether the additions of a batch require the texts of a field to be stored.</summary>
    public static bool AreNeeded(BatchField? added)
    {
        if (added is null)
            return false;
        if (added.Terms.Count > 0)
            return true;
        for (int i = 0; i < added.Numbers.Count; i++)
        {
            if (!NumberKey.HasPlainText(added.Numbers[i]))
                return true;
        }

        return false;
    }

    /// <summary>
    /// The terms that a batch adds, including the texts of its numbers; null if there are none. Valid until
    /// <see cref="Clear"/>.
    /// </summary>
    public TermTable? Added(BatchField? field) => Unite(field, _added);

    /// <summary>
    /// The terms that are removed, including the texts of their numbers; null if there are none. Valid until
    /// <see cref="Clear"/>.
    /// </summary>
    public TermTable? Removed(BatchField? field) => Unite(field, _removed);

    /// <summary>Removes all terms.</summary>
    public void Clear()
    {
        _added.Clear(KeepBytes);
        _removed.Clear(KeepBytes);
    }

    /// <summary>
    /// Writes the texts of all numbers of a field into its empty dictionary of texts. Most fields with both need this once;
    /// it costs a scan of all their entries.
    /// </summary>
    public void Copy(TermTree numbers, Tree lists, PostingWriter texts, CancellationToken cancellationToken)
    {
        using var cursor = new NumberTextCursor(numbers, back: false);
        for (bool isThere = cursor.MoveFirst(); isThere; isThere = cursor.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            _postings.Clear();
            var payload = new TermPayload(cursor.Value);
            if (payload.Kind == PostingKind.Long)
                AddLong(lists, payload.ListId);
            else
                AddFlat(payload.Flat);
            texts.Apply(cursor.Key, _postings.Run, []);
        }

        texts.Finish();
    }

    private static TermTable? Unite(BatchField? field, TermTable room)
    {
        if (field is not { Numbers.Count: > 0 })
            return field?.Terms;
        room.Clear(KeepBytes); // a commit that failed has left its terms
        room.Unite(field.Terms, field.Numbers);
        return room;
    }

    private void AddFlat(FlatPostings flat)
    {
        while (flat.MoveNext(out Posting posting))
            _postings.Add(posting, ReadOnlySpan<int>.Empty);
    }

    private void AddLong(Tree lists, long listId)
    {
        using var list = new PostingCursor(lists, listId);
        for (long number = list.Next(0); number != PostingCursor.End; number = list.Next(number + 1))
        {
            list.TryGet(number, out PostingWindow window);
            int count = window.CopyOffsets(_offsets);
            window.CopyFrequencies(_frequencies);
            for (int i = 0; i < count; i++)
                _postings.Add(
                    new Posting((number << PostingWindow.SizeBits) + _offsets[i], _frequencies[i]), ReadOnlySpan<int>.Empty);
        }
    }
}
