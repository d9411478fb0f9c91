using System.Buffers;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Finds the value at a path of members in valid JSON, passing over the values before it without parsing them. Gives up where
/// that is not enough: for paths with brackets, and at white space, escapes in names and arrays on the path.
/// </summary>
internal static class MemberFinder
{
    private static readonly SearchValues<byte> _endsOfScalars = SearchValues.Create(",}] \t\r\n"u8);

    private static readonly SearchValues<byte> _signsOfNesting = SearchValues.Create("\"{}[]"u8);

    /// <summary>Finds a value.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="path">The path. Of members of the same name, the first counts.</param>
    /// <param name="value">The value, if there is one.</param>
    /// <returns>Whether there is one; null if only a parser can tell.</returns>
    public static bool? TryFind(ReadOnlySpan<byte> json, FieldPath path, out ReadOnlySpan<byte> value)
    {
        value = default;
        int at = 0;
        if (path.HasBrackets || At(json, at) != (byte)'{')
            return null;
        for (int member = 0; ; member++)
        {
            bool? found = TryMoveToValue(json, path.NameOf(member), ref at);
            if (found != true)
                return found;
            if (member == path.Count - 1)
            {
                int start = at;
                if (!TrySkipValue(json, ref at))
                    return null;
                value = json[start..at];
                return true;
            }

            if (At(json, at) != (byte)'{')
                return IsStartOfScalar(At(json, at)) ? false : null;
        }
    }

    /// <summary>Moves from the brace that opens an object to the value of a member.</summary>
    private static bool? TryMoveToValue(ReadOnlySpan<byte> json, ReadOnlySpan<byte> name, ref int at)
    {
        at++;
        if (At(json, at) == (byte)'}')
            return false;
        while (At(json, at) == (byte)'"')
        {
            ReadOnlySpan<byte> rest = json[(at + 1)..];
            int length = rest.IndexOfAny((byte)'"', (byte)'\\');
            if (length < 0 || rest[length] == (byte)'\\')
                return null;
            at += length + 2;
            if (At(json, at) != (byte)':')
                return null;
            at++;
            if (rest[..length].SequenceEqual(name))
                return true;
            if (!TrySkipValue(json, ref at))
                return null;
            byte next = At(json, at);
            if (next == (byte)'}')
                return false;
            if (next != (byte)',')
                return null;
            at++;
        }

        return null;
    }

    /// <summary>Moves from the start of a value to the byte after it.</summary>
    private static bool TrySkipValue(ReadOnlySpan<byte> json, ref int at)
    {
        byte first = At(json, at);
        if (first == (byte)'"')
            return TrySkipString(json, ref at);
        if (first is (byte)'{' or (byte)'[')
            return TrySkipNested(json, ref at);
        if (!IsStartOfScalar(first))
            return false;
        int length = json[at..].IndexOfAny(_endsOfScalars);
        at += length;
        return length > 0;
    }

    private static bool TrySkipString(ReadOnlySpan<byte> json, ref int at)
    {
        at++;
        while (at < json.Length)
        {
            int length = json[at..].IndexOfAny((byte)'"', (byte)'\\');
            if (length < 0)
                return false;
            at += length;
            if (json[at] == (byte)'"')
            {
                at++;
                return true;
            }

            at += 2; // the backslash, and the character that it escapes
        }

        return false;
    }

    private static bool TrySkipNested(ReadOnlySpan<byte> json, ref int at)
    {
        int depth = 0;
        while (at < json.Length)
        {
            int length = json[at..].IndexOfAny(_signsOfNesting);
            if (length < 0)
                return false;
            at += length;
            byte sign = json[at];
            if (sign == (byte)'"')
            {
                if (!TrySkipString(json, ref at))
                    return false;
                continue;
            }

            at++;
            depth += sign is (byte)'{' or (byte)'[' ? 1 : -1;
            if (depth == 0)
                return true;
        }

        return false;
    }

    private static bool IsStartOfScalar(byte first) =>
        first is (byte)'"' or (byte)'-' or (>= (byte)'0' and <= (byte)'9') or (byte)'t' or (byte)'f' or (byte)'n';

    private static byte At(ReadOnlySpan<byte> json, int at) => (uint)at < (uint)json.Length ? json[at] : (byte)0;
}
