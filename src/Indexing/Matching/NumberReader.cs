using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching;

/// <summary>Reads the numbers of a field by entry.</summary>
internal sealed class NumberReader
{
    private readonly SortColumn _column;

    /// <exception cref="UnknownFieldException">There is no such field.</exception>
    /// <exception cref="IndexQueryException">The field is full text, which has no numbers.</exception>
    public NumberReader(QueryContext context, string name)
    {
        int field = context.View.Field(name);
        if (context.View.Schema.Fields[field].Analysis == FieldAnalysis.FullText)
            throw new IndexQueryException($"The field '{name}' is full text: its words are not numbers and cannot be summed.");
        _column = context.OpenSortColumn(field);
    }

    /// <summary>Reads the number of an entry; false if it has none. Cheap in ascending order of entries.</summary>
    public bool TryRead(long id, out double number)
    {
        SortChunk chunk = _column.Read(id >> SortChunk.EntryBits);
        int slot = (int)(id & (SortChunk.Entries - 1));
        bool isNumber = chunk.TagAt(slot) == SortTag.Number;
        number = isNumber ? chunk.DoubleAt(slot) : 0;
        return isNumber;
    }
}
