using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// Finds the values at a path of an object. A missing value counts as one undefined value, but a missing or empty array has
/// no values.
/// </summary>
internal sealed class ValueFinder(FieldPath path, List<FoundValue> found)
{
    private List<(string Array, int Element)>? _elements;

    public void Find(JsonElement root) => FindMember(root, 0, "", 0);

    /// <summary>Finds a member.</summary>
    /// <param name="owner">The value that contains it.</param>
    /// <param name="member">Its number in the path.</param>
    /// <param name="array">The path of the innermost array so far; empty if there is none.</param>
    /// <param name="behind">The number of the first member after that array.</param>
    private void FindMember(JsonElement owner, int member, string array, int behind)
    {
        if (owner.ValueKind == JsonValueKind.Object && owner.TryGetProperty(path.NameOf(member), out JsonElement value))
            FindValue(value, member, 0, array, behind);
        else
            AddMissing(member, 0);
    }

    private void FindValue(JsonElement value, int member, int level, string array, int behind)
    {
        bool isLast = member == path.Count - 1;
        if (value.ValueKind == JsonValueKind.Array && (!isLast || level < path.LevelsOf(member)))
        {
            for (; behind <= member; behind++)
                array += $".{Encoding.UTF8.GetString(path.NameOf(behind))}";
            FindElements(value, member, level, array);
            return;
        }

        if (path.ElementOf(member, level) >= 0 || value.ValueKind == JsonValueKind.Null)
            AddMissing(member, level);
        else if (isLast)
            Add(value);
        else
            FindMember(value, member + 1, array, behind);
    }

    private void FindElements(JsonElement array, int member, int level, string place)
    {
        int wanted = path.ElementOf(member, level), index = 0;
        if (wanted >= array.GetArrayLength())
            AddMissing(member, level + 1);
        string name = place + "[]";
        foreach (JsonElement element in array.EnumerateArray())
        {
            if (wanted < 0)
            {
                (_elements ??= []).Add((name, index));
                FindValue(element, member, level + 1, name, member + 1);
                _elements.RemoveAt(_elements.Count - 1);
            }
            else if (wanted == index)
            {
                FindValue(element, member, level + 1, place, member + 1);
            }

            index++;
        }
    }

    /// <summary>
    /// Adds one undefined value for a missing member, <paramref name="level"/> arrays deep, unless the rest of the path
    /// crosses another array.
    /// </summary>
    private void AddMissing(int member, int level)
    {
        for (; member < path.Count; member++, level = 0)
            for (; level < path.LevelsOf(member); level++)
                if (path.ElementOf(member, level) < 0)
                    return;
        Add(default);
    }

    private void Add(JsonElement value) =>
        found.Add(new FoundValue(value, _elements is { Count: > 0 } elements ? elements.ToArray() : []));
}
