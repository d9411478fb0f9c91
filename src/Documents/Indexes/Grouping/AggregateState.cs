using System.Buffers;
using System.Runtime.InteropServices;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Grouping;

/// <summary>An aggregate that is being computed. Not thread-safe.</summary>
internal sealed class AggregateState(GroupAggregateKind kind)
{
    private readonly ExactSum? _sum = kind == GroupAggregateKind.Sum ? new ExactSum() : null;
    private readonly ExtremeValue? _extreme =
        kind == GroupAggregateKind.Sum ? null : new ExtremeValue(kind == GroupAggregateKind.Max);

    /// <summary>Adds a value of a document.</summary>
    /// <exception cref="ComputationException">The value cannot be aggregated.</exception>
    public void AddValue(JsonElement value, string path)
    {
        if (_extreme is not null)
        {
            AddExtreme(value, path);
            return;
        }

        if (value.ValueKind != JsonValueKind.Number)
            return;
        try
        {
            _sum!.Add(JsonMarshal.GetRawUtf8Value(value)); // either is there
        }
        catch (FormatException error)
        {
            throw new ComputationException(error.Message, error);
        }
    }

    /// <summary>Adds a partial result, in the form that <see cref="WriteTo"/> writes.</summary>
    public void AddPartial(ReadOnlySpan<byte> json)
    {
        _sum?.AddSum(json);
        _extreme?.Add(json);
    }

    /// <summary>Writes the aggregate as JSON.</summary>
    public void WriteTo(IBufferWriter<byte> output)
    {
        _sum?.WriteTo(output);
        _extreme?.WriteTo(output);
    }

    private void AddExtreme(JsonElement value, string path)
    {
        if (value.ValueKind is not (JsonValueKind.Number or JsonValueKind.String))
            return;
        if (JsonMarshal.GetRawUtf8Value(value).Length is > GroupMap.MaxKeyBytes and var length)
            throw new ComputationException(
                $"its value of '{path}' has {length:N0} bytes; min() and max() take {GroupMap.MaxKeyBytes:N0} at the most.");
        var json = new ArrayBufferWriter<byte>();
        CanonicalJson.Write(value, json);
        _extreme!.Add(json.WrittenSpan); // checked by the caller
    }
}
