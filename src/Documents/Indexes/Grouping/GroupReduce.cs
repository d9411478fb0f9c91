using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.States;
using Treepie.Json;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// Adds up the counts and sums of a group, and finds its least and greatest values. All are exact, see <see cref="ExactSum"/>
/// and <see cref="ExtremeValue"/>, so the result does not depend on order or partitioning.
/// </summary>
internal sealed class GroupReduce : IndexReduce
{
    private readonly GroupAggregateKind[] _kinds; // of the count, which is summed, and of the aggregates
    private readonly byte[][] _names;

    public GroupReduce(GroupDefinition definition)
    {
        Keys = [.. definition.Keys.Select(key => key.Member)];
        _kinds = [GroupAggregateKind.Sum, .. definition.Aggregates.Select(one => one.Kind)];
        string[] members = [GroupDefinition.Count, .. definition.Aggregates.Select(one => one.Member)];
        _names = [.. members.Select(NameOf)];
        Fields = [.. Keys.Concat(members).Select(name => new MappedField(name))];
    }

    public override IReadOnlyList<string> Keys { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    public override bool AddsUp => true;

    /// <summary>Returns a name as JSON, followed by a colon.</summary>
    public static byte[] NameOf(string name)
    {
        var output = new ArrayBufferWriter<byte>();
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(name));
        output.Write(":"u8);
        return output.WrittenSpan.ToArray();
    }

    public override void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output)
    {
        AggregateState[] states = [.. _kinds.Select(static kind => new AggregateState(kind))];
        int addedFrom = 0;
        foreach (ReadOnlyMemory<byte> value in values)
            addedFrom = Add(value.Span, states);

        // All values have the same keys, which come first.
        output.Buffer.Write(values[^1].Span[..addedFrom]);
        for (int i = 0; i < states.Length; i++)
        {
            if (i > 0)
                output.Buffer.Write(","u8);
            output.Buffer.Write(_names[i]);
            states[i].WriteTo(output.Buffer);
        }

        output.Buffer.Write("}"u8);
        output.EndObject();
    }

    /// <summary>Adds the aggregates of an object, which follow its keys; returns their start.</summary>
    private static int Add(ReadOnlySpan<byte> json, AggregateState[] states)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = CanonicalJson.MaxDepth });
        reader.Read();
        int from = 0;
        for (int i = 0; reader.Read() && reader.TokenType == JsonTokenType.PropertyName;)
        {
            if (i == 0)
            {
                bool isCount = reader.ValueTextEquals(GroupDefinition.Count);
                from = (int)reader.TokenStartIndex;
                reader.Read();
                if (!isCount)
                {
                    reader.Skip();
                    continue;
                }
            }
            else
            {
                reader.Read();
            }

            states[i++].AddPartial(json[(int)reader.TokenStartIndex..(int)reader.BytesConsumed]);
        }

        return from;
    }
}
