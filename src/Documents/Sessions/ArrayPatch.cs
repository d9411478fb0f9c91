using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Changes of an array of a document, made where it is stored, in their order; see
/// <see cref="SessionAdvanced.Patch{T, TElement}(string, System.Linq.Expressions.Expression{Func{T, IEnumerable{TElement}}},
/// Action{ArrayPatch{TElement}})"/>.
/// </summary>
/// <typeparam name="TElement">What its elements are.</typeparam>
public sealed class ArrayPatch<TElement>
{
    private readonly MemberPath _path;
    private readonly JsonSerializerOptions _json;
    private readonly List<MemberEdit> _edits = [];

    internal ArrayPatch(MemberPath path, JsonSerializerOptions json) => (_path, _json) = (path, json);

    internal IReadOnlyList<MemberEdit> Edits => _edits;

    /// <summary>Adds elements behind those there are; an array that is not there is made.</summary>
    public ArrayPatch<TElement> Add(params IEnumerable<TElement> elements)
    {
        ArgumentNullException.ThrowIfNull(elements);
        return Edit(MemberEditKind.Append, Encoding.UTF8.GetBytes($"[{string.Join(',', elements.Select(Text))}]"));
    }

    /// <summary>Removes the element at an index; that there is one is checked by the save.</summary>
    public ArrayPatch<TElement> RemoveAt(int index)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        return Edit(MemberEditKind.RemoveAt, Encoding.UTF8.GetBytes(index.ToString(CultureInfo.InvariantCulture)));
    }

    /// <summary>Removes all elements that equal one, as JSON.</summary>
    public ArrayPatch<TElement> RemoveAll(TElement element) =>
        Edit(MemberEditKind.RemoveEqual, Encoding.UTF8.GetBytes(Text(element)));

    private string Text(TElement element) => JsonSerializer.Serialize(element, _json.GetTypeInfo(typeof(TElement)));

    private ArrayPatch<TElement> Edit(MemberEditKind kind, byte[] json)
    {
        _edits.Add(new MemberEdit(kind, _path, json));
        return this;
    }
}
