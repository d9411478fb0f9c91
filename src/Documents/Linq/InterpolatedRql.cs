using System.Globalization;
using System.Text;

namespace Treepie.Linq;

/// <summary>
/// The text and values of interpolated RQL. Follows strings and comments as the parser does, because a hole inside quotes would
/// be text and not a parameter.
/// </summary>
internal sealed class InterpolatedRql(int capacity)
{
    private readonly StringBuilder _text = new(capacity);
    private readonly List<object?> _values = [];
    private char _quote; // of the string that is open; '/' and '*' for comments, NUL for none
    private int _braces; // open ones: inside them is JavaScript, where a backslash escapes any character
    private char _before; // the character before, unless it has been used up
    private bool _isBehindValue;

    public string Text => _text.ToString();

    public IReadOnlyList<object?> Values => _values;

    /// <summary>The values by the names that they have in the text.</summary>
    public Dictionary<string, object?> NamedValues()
    {
        var named = new Dictionary<string, object?>(_values.Count, StringComparer.Ordinal);
        for (int i = 0; i < _values.Count; i++)
            named.Add(NameOf(i), _values[i]);
        return named;
    }

    public void AddText(string part)
    {
        if (part.Length == 0)
            return;
        if (_isBehindValue && (char.IsLetterOrDigit(part[0]) || part[0] == '_'))
            throw new ArgumentException(
                $"The text '{part}' of an RQL string follows a hole directly and would become part of the parameter's name. Put "
                    + "the whole value into the hole.");
        _isBehindValue = false;
        _text.Append(part);
        foreach (char c in part)
            _before = Follow(c) ? c : '\0';
    }

    public void AddValue(object? value)
    {
        if (_quote is '\'' or '"' or '`')
            throw new ArgumentException(
                "A hole of an RQL string is a parameter and must not be inside quotes: write where City = {city}, not where City "
                    + "= '{city}', and put the whole value into the hole, as in startsWith(City, {start}).");
        _text.Append('$').Append(NameOf(_values.Count));
        _values.Add(value);
        _before = '\0';
        _isBehindValue = true;
    }

    private static string NameOf(int index) => string.Create(CultureInfo.InvariantCulture, $"p{index}");

    /// <summary>Follows a character, and returns whether the next one may belong to it.</summary>
    private bool Follow(char c)
    {
        switch (_quote)
        {
            case '\0' when c is '\'' or '"' or '`':
                _quote = c;
                return false;
            case '\0' when _before == '/' && c is '/' or '*':
                _quote = c;
                return false;
            case '\0':
                _braces += c == '{' ? 1 : c == '}' ? -1 : 0;
                return true;
            case '/':
                _quote = c == '\n' ? '\0' : _quote;
                return false;
            case '*':
                _quote = _before == '*' && c == '/' ? '\0' : _quote;
                return _quote != '\0';
            default:
                // A doubled quote closes the string and opens it again, which is the same here.
                if (_before == '\\' && (_braces > 0 || c is '\'' or '"'))
                    return false;
                _quote = c == _quote ? '\0' : _quote;
                return true;
        }
    }
}
