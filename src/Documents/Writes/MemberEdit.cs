using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Treepie.Json;

namespace Treepie.Writes;

/// <summary>A change of one value of a document. The spelling of everything else is preserved.</summary>
/// <param name="Kind">The kind of the change.</param>
/// <param name="Path">The path of the value. Missing objects on the path are created.</param>
/// <param name="Json">The value; for <see cref="MemberEditKind.Append"/> an array of values, for
/// <see cref="MemberEditKind.RemoveAt"/> the index.</param>
internal sealed record MemberEdit(MemberEditKind Kind, MemberPath Path, ReadOnlyMemory<byte> Json)
{
    private static readonly JsonDocumentOptions _json = new() { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 };

    /// <summary>Returns the changed document.</summary>
    /// <exception cref="ScriptException">The existing value cannot be changed in this way.</exception>
    public byte[] Apply(ReadOnlyMemory<byte> document)
    {
        using JsonDocument json = JsonDocument.Parse(document, _json);
        var output = new ArrayBufferWriter<byte>(document.Length + Json.Length + 64);
        Write(output, json.RootElement, 0);
        return output.WrittenSpan.ToArray();
    }

    private static void Copy(ArrayBufferWriter<byte> output, JsonElement value) =>
        output.Write(JsonMarshal.GetRawUtf8Value(value));

    private static bool IsNothing(JsonElement value) => value.ValueKind is JsonValueKind.Undefined or JsonValueKind.Null;

    private void Write(ArrayBufferWriter<byte> output, JsonElement value, int step)
    {
        if (step == Path.Steps.Count)
            Change(output, value);
        else if (Path.Steps[step] is ({ } name, _))
            WriteMember(output, value, name, step);
        else
            WriteElement(output, value, Path.Steps[step].Index, step);
    }

    private void WriteMember(ArrayBufferWriter<byte> output, JsonElement owner, string name, int step)
    {
        if (!IsNothing(owner) && owner.ValueKind != JsonValueKind.Object)
            throw Refused($"'{name}' cannot be a member of {Kindly(owner)}");

        bool isFound = false;
        output.Write("{"u8);
        if (!IsNothing(owner))
        {
            foreach (JsonProperty member in owner.EnumerateObject())
            {
                output.Write(output.WrittenSpan[^1] == (byte)'{' ? "\""u8 : ",\""u8);
                output.Write(JsonMarshal.GetRawUtf8PropertyName(member));
                output.Write("\":"u8);
                bool isIt = !isFound && member.NameEquals(name);
                isFound |= isIt;
                if (isIt)
                    Write(output, member.Value, step + 1);
                else
                    Copy(output, member.Value);
            }
        }

        if (!isFound)
        {
            output.Write(output.WrittenSpan[^1] == (byte)'{' ? ""u8 : ","u8);
            JsonStrings.Write(output, Encoding.UTF8.GetBytes(name));
            output.Write(":"u8);
            Write(output, default, step + 1);
        }

        output.Write("}"u8);
    }

    private void WriteElement(ArrayBufferWriter<byte> output, JsonElement owner, int index, int step)
    {
        int count = owner.ValueKind == JsonValueKind.Array ? owner.GetArrayLength() : 0;
        if (index >= count)
            throw Refused($"there is no element {index}: {Kindly(owner)} with {count} elements stands there");
        WriteElements(output, owner, (element, at) =>
        {
            if (at == index)
                Write(output, element, step + 1);
            else
                Copy(output, element);
        });
    }

    private static void WriteElements(
        ArrayBufferWriter<byte> output, JsonElement array, Action<JsonElement, int> write,
        Func<JsonElement, int, bool>? isKept = null)
    {
        output.Write("["u8);
        int at = 0;
        bool isFirst = true;
        foreach (JsonElement element in array.EnumerateArray())
        {
            if (isKept?.Invoke(element, at) != false)
            {
                output.Write(isFirst ? ""u8 : ","u8);
                write(element, at);
                isFirst = false;
            }

            at++;
        }

        output.Write("]"u8);
    }

    private void Change(ArrayBufferWriter<byte> output, JsonElement value)
    {
        switch (Kind)
        {
            case MemberEditKind.Set:
                output.Write(Json.Span);
                break;
            case MemberEditKind.Increment:
                output.Write(Encoding.UTF8.GetBytes(Sum(value)));
                break;
            case MemberEditKind.Append when IsNothing(value):
                output.Write(Json.Span);
                break;
            case MemberEditKind.Append:
                RequireArray(value);
                output.Write(JsonMarshal.GetRawUtf8Value(value).TrimEnd(" \t\r\n"u8)[..^1]);
                output.Write(value.GetArrayLength() > 0 && Json.Length > 2 ? ","u8 : ""u8);
                output.Write(Json.Span[1..]);
                break;
            case MemberEditKind.RemoveAt:
                RequireArray(value);
                int index = int.Parse(Json.Span, NumberStyles.None, CultureInfo.InvariantCulture);
                if (index >= value.GetArrayLength())
                    throw Refused($"there is no element {index}: the array has {value.GetArrayLength()}");
                WriteElements(output, value, (element, _) => Copy(output, element), (_, at) => at != index);
                break;
            case MemberEditKind.RemoveEqual when IsNothing(value):
                output.Write("[]"u8);
                break;
            default:
                RequireArray(value);
                using (JsonDocument removed = JsonDocument.Parse(Json, _json))
                {
                    WriteElements(
                        output, value, (element, _) => Copy(output, element),
                        (element, _) => !JsonElement.DeepEquals(element, removed.RootElement));
                }

                break;
        }
    }

    /// <summary>Keeps integers integral, and decimal fractions exact, as long as they fit.</summary>
    private string Sum(JsonElement value)
    {
        if (IsNothing(value))
            return Encoding.UTF8.GetString(Json.Span);
        if (value.ValueKind != JsonValueKind.Number)
            throw Refused($"a number cannot be added to {Kindly(value)}");

        using JsonDocument json = JsonDocument.Parse(Json);
        JsonElement delta = json.RootElement;
        if (value.TryGetInt64(out long whole) && delta.TryGetInt64(out long wholeDelta))
        {
            Int128 sum = (Int128)whole + wholeDelta;
            return sum >= long.MinValue && sum <= long.MaxValue
                ? sum.ToString(CultureInfo.InvariantCulture)
                : throw Refused($"{whole} and {wholeDelta} together are more than 64 bits hold");
        }

        if (TryGetDecimal(value, out decimal exact) && TryGetDecimal(delta, out decimal exactDelta))
            return (exact + exactDelta).ToString(CultureInfo.InvariantCulture);
        double near = value.GetDouble() + delta.GetDouble();
        return double.IsFinite(near)
            ? near.ToString("R", CultureInfo.InvariantCulture)
            : throw Refused($"{value.GetRawText()} and {delta.GetRawText()} together are no finite number");
    }

    /// <summary>Accepts only numbers that a decimal represents exactly, with room for the sum of two.</summary>
    private static bool TryGetDecimal(JsonElement number, out decimal value)
    {
        const int MostDigits = 27;
        ReadOnlySpan<byte> raw = JsonMarshal.GetRawUtf8Value(number);
        value = 0;
        return raw.Length <= MostDigits && raw.IndexOfAny("eE"u8) < 0 && number.TryGetDecimal(out value);
    }

    private static string Kindly(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Object => "an object",
        JsonValueKind.Array => "an array",
        JsonValueKind.String => "a text",
        JsonValueKind.Number => "a number",
        JsonValueKind.True or JsonValueKind.False => "true or false",
        _ => "nothing",
    };

    private void RequireArray(JsonElement value)
    {
        if (value.ValueKind != JsonValueKind.Array)
            throw Refused($"{Kindly(value)} has no elements");
    }

    private ScriptException Refused(string what) => new($"At '{Path.Text}' {what}.");
}
