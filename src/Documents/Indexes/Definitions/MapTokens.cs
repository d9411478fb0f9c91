namespace Treepie.Indexes.Definitions;

/// <summary>The tokens of a map.</summary>
internal sealed class MapTokens(string indexName, string text)
{
    private static readonly string[] _types = ["double", "float", "decimal", "int", "long", "string", "object"];

    private int _position;

    /// <summary>Whether only white space is left.</summary>
    public bool IsAtEnd
    {
        get
        {
            SkipSpace();
            return _position == text.Length;
        }
    }

    /// <summary>Whether a quoted string is next.</summary>
    public bool IsText
    {
        get
        {
            SkipSpace();
            return _position < text.Length && text[_position] is '\'' or '"';
        }
    }

    /// <summary>Consumes a word or symbol if it is next.</summary>
    public bool Take(string token)
    {
        SkipSpace();
        if (!text.AsSpan(_position).StartsWith(token, StringComparison.Ordinal))
            return false;
        int end = _position + token.Length;
        if (IsNamePart(token[^1]) && end < text.Length && IsNamePart(text[end]))
            return false;
        if (token == "=" && end < text.Length && text[end] is '=' or '>')
            return false;
        _position = end;
        return true;
    }

    /// <summary>Consumes <c>.Name(</c>.</summary>
    public bool TakeCall(string name) => TakeAll(".", name, "(") || TakeAll("?.", name, "(");

    /// <summary>Consumes <c>Name(</c> or <c>this.Name(</c>, with its first letter in either case.</summary>
    public bool TakeFunction(string name)
    {
        string lower = char.ToLowerInvariant(name[0]) + name[1..];
        return TakeAll(name, "(") || TakeAll(lower, "(") || TakeAll("this", ".", name, "(") || TakeAll("this", ".", lower, "(");
    }

    /// <summary>Consumes a cast to a value type, <c>(double?)</c>, which does not affect what is indexed.</summary>
    public void TakeCast()
    {
        foreach (string type in _types)
            if (TakeAll("(", type, ")") || TakeAll("(", type, "?", ")"))
                return;
    }

    public void Require(string token)
    {
        if (!Take(token))
            throw Refuse($"expected '{token}'");
    }

    public string Name(string what)
    {
        SkipSpace();
        int start = _position;
        if (start == text.Length || !IsNamePart(text[start]) || char.IsDigit(text[start]))
            throw Refuse($"expected {what}");
        while (_position < text.Length && IsNamePart(text[_position]))
            _position++;
        return text[start.._position];
    }

    /// <summary>Reads a name that is not called.</summary>
    public string Member()
    {
        SkipSpace();
        int start = _position;
        string name = Name("a member");
        SkipSpace();
        if (_position < text.Length && text[_position] == '(')
        {
            _position = start;
            throw Refuse("a call");
        }

        return name;
    }

    /// <summary>Reads a quoted string without escapes.</summary>
    public string Text(string what)
    {
        if (!IsText)
            throw Refuse($"expected {what}, in quotes");
        int end = text.IndexOf(text[_position], _position + 1);
        if (end < 0 || text.AsSpan(_position, end - _position).Contains('\\'))
            throw Refuse($"expected {what}, in quotes and without escapes");
        string found = text[(_position + 1)..end];
        _position = end + 1;
        return found;
    }

    /// <summary>Returns an error that the map cannot be run, with the position.</summary>
    public InvalidIndexDefinitionException Refuse(string problem)
    {
        const int Shown = 40;
        string rest = _position >= text.Length
            ? "its end"
            : $"'{text.AsSpan(_position, Math.Min(Shown, text.Length - _position))}'";
        return new InvalidIndexDefinitionException(
            indexName, "Maps",
            $"its map computes, or is not one: {problem} at {rest}. Maps that only name fields and their paths are run; others, "
                + $"in C# or JavaScript, are not yet. Store what it would compute with the documents, and name its path.");
    }

    private bool TakeAll(params ReadOnlySpan<string> tokens)
    {
        int start = _position;
        foreach (string token in tokens)
        {
            if (!Take(token))
            {
                _position = start;
                return false;
            }
        }

        return true;
    }

    private void SkipSpace()
    {
        while (_position < text.Length && char.IsWhiteSpace(text[_position]))
            _position++;
    }

    private static bool IsNamePart(char c) => char.IsLetterOrDigit(c) || c is '_' or '$' or '@';
}
