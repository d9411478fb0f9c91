using System.Linq.Expressions;
using System.Numerics;

namespace Treepie.Linq;

/// <summary>
/// Translates conditions on the bits of an enumeration, <c>HasFlag</c> and <c>(x &amp; flag) != 0</c>: the values that fulfill
/// them are listed, as documents have them, whether by name or as numbers.
/// </summary>
internal sealed class FlagsTranslator(ConditionTranslator conditions)
{
    /// <summary>The maximum number of bits: of so many there are 1,024 values.</summary>
    private const int MaxBits = 10;

    /// <summary>Translates a condition on one member that is an enumeration; null if it is another condition.</summary>
    public Clause? TryOf(Expression condition)
    {
        var search = new Members(conditions.Paths);
        search.Visit(condition);
        if (search.Only is not { IsRoot: false } path || !(Nullable.GetUnderlyingType(path.Type) ?? path.Type).IsEnum)
            return null;
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        List<object?> values = [.. ValuesOf(type, condition).Where(value => Holds(condition, search.Nodes, value))];
        if (type != path.Type && Holds(condition, search.Nodes, null))
            values.Add(null);
        return conditions.In(path, values, condition);
    }

    private static bool Holds(Expression condition, List<Expression> members, object? value)
    {
        var given = new Dictionary<Expression, object?>(ReferenceEqualityComparer.Instance);
        foreach (Expression member in members)
            given[member] = value is null ? null : Arithmetic.Convert(value, member.Type, isChecked: false);
        try
        {
            return new Interpreter(given).Evaluate(condition) is true;
        }
        catch (InvalidOperationException) when (value is null)
        {
            return false; // what is read of null fulfills nothing
        }
    }

    /// <summary>Returns what the named values of an enumeration, joined, come to.</summary>
    private static IEnumerable<object?> ValuesOf(Type type, Expression quoted)
    {
        ulong[] named = [.. ConditionTranslator.ValuesOf(type).Select(Number).Distinct()];
        if (!type.IsDefined(typeof(FlagsAttribute), inherit: false))
            return named.Select(number => Enum.ToObject(type, number));
        ulong bits = named.Aggregate(0UL, (all, each) => all | each);
        if (BitOperations.PopCount(bits) > MaxBits)
            throw Refusal.Of(
                quoted,
                $"Of flags the values that have them are listed, and {type.Name} has more than {MaxBits} bits. Keep the flags in "
                    + "a list of their own and write 'x.List.Contains(flag)'.");
        var values = new HashSet<ulong> { 0 };
        foreach (ulong each in named)
            values.UnionWith([.. values.Select(value => value | each)]);
        return values.Select(number => Enum.ToObject(type, number));
    }

    private static ulong Number(object value) =>
        Enum.GetUnderlyingType(value.GetType()) == typeof(ulong)
            ? Convert.ToUInt64(value, System.Globalization.CultureInfo.InvariantCulture)
            : unchecked((ulong)Convert.ToInt64(value, System.Globalization.CultureInfo.InvariantCulture));

    /// <summary>Finds the members of the document in an expression.</summary>
    private sealed class Members(PathTranslator paths) : ExpressionVisitor
    {
        private bool _isOther;

        public List<Expression> Nodes { get; } = [];

        /// <summary>The path of all members; null if they differ, or if there is none.</summary>
        public DocumentPath? Only { get; private set; }

        public override Expression? Visit(Expression? node)
        {
            if (node is null || _isOther || !paths.DependsOnDocument(node))
                return node;
            if (paths.TryFind(node) is not { } path)
                return base.Visit(node);
            _isOther = path.IsRoot || (Only is not null && Only.Text != path.Text);
            Only = _isOther ? null : path;
            Nodes.Add(node);
            return node;
        }
    }
}
