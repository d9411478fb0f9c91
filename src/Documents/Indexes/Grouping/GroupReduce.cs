using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.States;
using Treepie.Json;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// Adds up the counts and sums of a group. Sums are exact, see <see cref="ExactSum"/>, so the result does not depend on
/// order or partitioning.
/// </summary>
internal sealed class GroupReduce : IndexReduce
{
    private readonly string[] _added;
    private readonly byte[][] _names;

    public GroupReduce(GroupDefinition definition)
    {
        Keys = [.. definition.Keys.Select(key => key.Member)];
        _added = [GroupDefinition.Count, .. definition.Sums.Select(sum => GroupKey.MemberOf(GroupDefinition.SumName(sum)))];
        _names = [.. _added.Select(NameOf)];
        Fields = [.. Keys.Concat(_added).Select(name => new MappedField(name))];
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
        ExactSum[] sums = [.. _added.Select(static _ => new ExactSum())];
        int addedFrom = 0;
        foreach (ReadOnlyMemory<byte> value in values)
            addedFrom = Add(value.Span, sums);

        // All values have the same keys, which come first.
        output.Buffer.Write(values[^1].Span[..addedFrom]);
        for (int i = 0; i < sums.Length; i++)
        {
            if (i > 0)
                output.Buffer.Write(","u8);
            output.Buffer.Write(_names[i]);
            sums[i].WriteTo(output.Buffer);
        }

        output.Buffer.Write("}"u8);
        output.EndObject();
    }

    /// <summary>Adds the numbers of an object, which follow its keys; returns their start.</summary>
    private static int Add(ReadOnlySpan<byte> json, ExactSum[] sums)
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

            sums[i++].AddSum(reader.ValueSpan);
        }

        return from;
    }
}
