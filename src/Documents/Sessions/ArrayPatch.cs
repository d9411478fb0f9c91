using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Changes an array of a stored document in place; the edits are applied in the order of the calls. See
/// <see cref="SessionAdvanced.Patch{T, TElement}(string, System.Linq.Expressions.Expression{Func{T, IEnumerable{TElement}}},
/// Action{ArrayPatch{TElement}})"/>.
/// </summary>
/// <typeparam name="TElement">The type of the elements.</typeparam>
public sealed class ArrayPatch<TElement>
{
    private readonly MemberPath _path;
    private readonly JsonSerializerOptions _json;
    private readonly List<MemberEdit> _edits = [];

    internal ArrayPatch(MemberPath path, JsonSerializerOptions json) => (_path, _json) = (path, json);

    internal IReadOnlyList<MemberEdit> Edits => _edits;

    /// <summary>Appends elements to the array; creates the array if it does not exist.</summary>
    public ArrayPatch<TElement> Add(params IEnumerable<TElement> elements)
    {
        ArgumentNullException.ThrowIfNull(elements);
        return Edit(MemberEditKind.Append, Encoding.UTF8.GetBytes($"[{string.Join(',', elements.Select(Text))}]"));
    }

    /// <summary>Removes the element at the specified index. The save fails if there is none.</summary>
    public ArrayPatch<TElement> RemoveAt(int index)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        return Edit(MemberEditKind.RemoveAt, Encoding.UTF8.GetBytes(index.ToString(CultureInfo.InvariantCulture)));
    }

    /// <summary>Removes all elements whose JSON equals that of the specified element.</summary>
    public ArrayPatch<TElement> RemoveAll(TElement element) =>
        Edit(MemberEditKind.RemoveEqual, Encoding.UTF8.GetBytes(Text(element)));

    private string Text(TElement element) => JsonSerializer.Serialize(element, _json.GetTypeInfo(typeof(TElement)));

    private ArrayPatch<TElement> Edit(MemberEditKind kind, byte[] json)
    {
        _edits.Add(new MemberEdit(kind, _path, json));
        return this;
    }
}
