using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching;

/// <summary>Reads the numbers of a field by entry.</summary>
internal sealed class NumberReader
{
    private readonly SortColumn _column;

    /// <exception cref="UnknownFieldException">There is no such field.</exception>
    /// <exception cref="IndexQueryException">It is full text, which has no numbers.</exception>
    public NumberReader(QueryContext context, string name)
    {
        int field = context.View.Field(name);
        if (context.View.Schema.Fields[field].Analysis == FieldAnalysis.FullText)
            throw new IndexQueryException($"The field '{name}' is full text: its words are no numbers that could be summed up.");
        _column = context.OpenSortColumn(field);
    }

    /// <summary>
    /// The number of an entry; false where it has none. Entries are mostly asked for in ascending order, which is cheap.
    /// </summary>
    public bool TryRead(long id, out double number)
    {
        SortChunk chunk = _column.Read(id >> SortChunk.EntryBits);
        int slot = (int)(id & (SortChunk.Entries - 1));
        bool isNumber = chunk.TagAt(slot) == SortTag.Number;
        number = isNumber ? chunk.DoubleAt(slot) : 0;
        return isNumber;
    }
}
