using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching;

/// <summary>Reads the numbers of a field by entry.</summary>
internal sealed class NumberReader
{
    private readonly SortColumn _column;

    /// <exception cref="UnknownFieldException">There is no such field.</exception>
    /// <exception cref="IndexQueryException">The field is of a kind that has no numbers.</exception>
    public NumberReader(QueryContext context, string name)
    {
        int field = context.View.Field(name);
        switch (context.View.Schema.Fields[field].Analysis)
        {
            case FieldAnalysis.FullText:
                throw new IndexQueryException(
                    $"The field '{name}' is full text: its words are not numbers and cannot be summed.");
            case FieldAnalysis.Spatial or FieldAnalysis.Vector:
                throw new IndexQueryException(
                    $"The field '{name}' has places or vectors, which cannot be summed: name a field of numbers.");
        }

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
