using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Queries.Filters;

namespace Treepie.Queries.Projecting;

/// <summary>A function of a selected value. Immutable.</summary>
internal abstract class SelectedFunction
{
    /// <summary>Whether it needs the whole document, so that fields stored in the index are not enough.</summary>
    public virtual bool NeedsDocument => false;

    /// <summary>Writes the result for a value as JSON. Returns false and writes nothing if there is no value.</summary>
    public abstract bool TryWrite(RowValues row, ProjectedField of, IBufferWriter<byte> output);

    /// <summary>Parses what was written for a result.</summary>
    protected static JsonDocument Parse(ArrayBufferWriter<byte> json) =>
        JsonDocument.Parse(json.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
}

/// <summary><c>year(At)</c>: a function of one value; of an array, that of each element.</summary>
internal sealed class MappedValue(Func<FilterValue, FilterValue> function) : SelectedFunction
{
    public override bool TryWrite(RowValues row, ProjectedField of, IBufferWriter<byte> output)
    {
        var value = new ArrayBufferWriter<byte>();
        if (!row.TryWrite(of, value))
            return false;
        using JsonDocument json = Parse(value);
        Write(json.RootElement, output);
        return true;
    }

    private void Write(JsonElement value, IBufferWriter<byte> output)
    {
        if (value.ValueKind != JsonValueKind.Array)
        {
            function(FilterValue.Of(value, isExact: true)).Write(output);
            return;
        }

        output.Write("["u8);
        bool isFirst = true;
        foreach (JsonElement element in value.EnumerateArray())
        {
            output.Write(isFirst ? ""u8 : ","u8);
            Write(element, output);
            isFirst = false;
        }

        output.Write("]"u8);
    }
}

/// <summary>
/// <c>count(Lines)</c>, <c>count(Lines as l, l.Price > 3)</c>: how many elements there are, or meet a condition.
/// </summary>
/// <param name="count">The number.</param>
/// <param name="names">The number of names that elements have at once.</param>
internal sealed class CountedElements(FilterCount count, int names) : SelectedFunction
{
    public override bool NeedsDocument => true;

    public override bool TryWrite(RowValues row, ProjectedField of, IBufferWriter<byte> output)
    {
        var root = new ArrayBufferWriter<byte>();
        if (of.IsRequired && !row.TryWrite(of, root))
            return false;
        root.ResetWrittenCount();
        row.WriteRoot(of, root);
        using JsonDocument json = Parse(root);
        var scope = new FilterScope(json.RootElement, Encoding.UTF8.GetString(row.Source.Id), names, row.Time);
        row.Time.Begin();
        try
        {
            FilterValue.Of(count.Of(scope)).Write(output);
        }
        finally
        {
            row.Time.End();
        }

        return true;
    }
}
