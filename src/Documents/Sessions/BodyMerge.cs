using System.Buffers;
using System.Runtime.InteropServices;
using System.Text.Json;
using Treepie.Json;

namespace Treepie.Sessions;

/// <summary>
/// Merges the changes of an entity into the document it came from without losing anything that was not changed: members unknown
/// to the type are kept, and unchanged values keep their spelling. A three-way merge of JSON: the stored document, the document
/// as this type serializes it unchanged, and as it serializes it now.
/// </summary>
/// <remarks>
/// An array element is considered the same as before if it is serialized identically, or if the array has the same length and the
/// element previously at its index is gone. Any other element is new.
/// </remarks>
internal sealed class BodyMerge(bool ignoresCase)
{
    private readonly StringComparison _names = ignoresCase ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;

    /// <summary>Returns the new body, minified. All three arguments are objects.</summary>
    public byte[] Merge(ReadOnlyMemory<byte> stored, ReadOnlyMemory<byte> before, ReadOnlyMemory<byte> now)
    {
        var depth = new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth };
        using JsonDocument storedJson = JsonDocument.Parse(stored, depth),
            beforeJson = JsonDocument.Parse(before, depth),
            nowJson = JsonDocument.Parse(now, depth);
        var output = new ArrayBufferWriter<byte>(stored.Length + now.Length);
        Write(output, storedJson.RootElement, beforeJson.RootElement, nowJson.RootElement);
        return output.WrittenSpan.ToArray();
    }

    private void Write(ArrayBufferWriter<byte> output, JsonElement stored, JsonElement before, JsonElement now)
    {
        if (IsSame(before, now))
            Copy(output, stored);
        else if (stored.ValueKind != before.ValueKind || before.ValueKind != now.ValueKind)
            Copy(output, now);
        else if (now.ValueKind == JsonValueKind.Object)
            WriteObject(output, stored, before, now);
        else if (now.ValueKind == JsonValueKind.Array && stored.GetArrayLength() == before.GetArrayLength())
            WriteArray(output, stored, before, now);
        else
            Copy(output, now);
    }

    private void WriteObject(ArrayBufferWriter<byte> output, JsonElement stored, JsonElement before, JsonElement now)
    {
        bool isFirst = true;
        output.Write("{"u8);
        foreach (JsonProperty member in stored.EnumerateObject())
        {
            bool isKnown = TryFind(before, member.Name, out JsonElement then);
            bool isThere = TryFind(now, member.Name, out JsonElement value);
            if (isKnown && !isThere)
                continue; // removed from the entity

            Name(output, ref isFirst, member.Name);
            if (!isThere)
                Copy(output, member.Value);
            else if (isKnown)
                Write(output, member.Value, then, value);
            else
                Copy(output, value);
        }

        foreach (JsonProperty member in now.EnumerateObject())
        {
            if (TryFind(stored, member.Name, out _))
                continue;
            if (TryFind(before, member.Name, out JsonElement then) && IsSame(then, member.Value))
                continue; // the type's default for a member that the document lacks

            Name(output, ref isFirst, member.Name);
            Copy(output, member.Value);
        }

        output.Write("}"u8);
    }

    private void WriteArray(ArrayBufferWriter<byte> output, JsonElement stored, JsonElement before, JsonElement now)
    {
        JsonElement[] then = [.. before.EnumerateArray()],
            document = [.. stored.EnumerateArray()],
            values = [.. now.EnumerateArray()];
        int[] origins = Origins(then, values);
        output.Write("["u8);
        for (int i = 0; i < values.Length; i++)
        {
            if (i > 0)
                output.Write(","u8);
            if (origins[i] >= 0)
                Write(output, document[origins[i]], then[origins[i]], values[i]);
            else
                Copy(output, values[i]);
        }

        output.Write("]"u8);
    }

    /// <summary>Returns the previous index of each element, or -1.</summary>
    private static int[] Origins(JsonElement[] then, JsonElement[] values)
    {
        var places = new Dictionary<string, Queue<int>>();
        for (int i = 0; i < then.Length; i++)
            (CollectionsMarshal.GetValueRefOrAddDefault(places, then[i].GetRawText(), out _) ??= new Queue<int>()).Enqueue(i);
        int[] origins = new int[values.Length];
        bool[] isTaken = new bool[then.Length];
        for (int i = 0; i < values.Length; i++)
        {
            origins[i] = places.TryGetValue(values[i].GetRawText(), out Queue<int>? same) && same.TryDequeue(out int place)
                ? place
                : -1;
            if (origins[i] >= 0)
                isTaken[origins[i]] = true;
        }

        for (int i = 0; i < values.Length && then.Length == values.Length; i++)
            if (origins[i] < 0 && !isTaken[i])
                origins[i] = i;
        return origins;
    }

    /// <summary>Both were written by the same serializer, so equal values are spelt identically.</summary>
    private static bool IsSame(JsonElement before, JsonElement now) =>
        JsonMarshal.GetRawUtf8Value(before).SequenceEqual(JsonMarshal.GetRawUtf8Value(now));

    private bool TryFind(JsonElement json, string name, out JsonElement value)
    {
        if (json.TryGetProperty(name, out value))
            return true;
        if (!ignoresCase)
            return false;

        foreach (JsonProperty member in json.EnumerateObject())
        {
            if (member.Name.Equals(name, _names))
            {
                value = member.Value;
                return true;
            }
        }

        return false;
    }

    private static void Name(ArrayBufferWriter<byte> output, ref bool isFirst, string name)
    {
        if (!isFirst)
            output.Write(","u8);
        isFirst = false;
        JsonStrings.Write(output, System.Text.Encoding.UTF8.GetBytes(name));
        output.Write(":"u8);
    }

    /// <summary>Copies a value with its spelling.</summary>
    private static void Copy(ArrayBufferWriter<byte> output, JsonElement value) =>
        output.Write(JsonMarshal.GetRawUtf8Value(value));
}
