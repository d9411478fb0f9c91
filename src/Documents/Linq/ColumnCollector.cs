using System.Globalization;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>Finds the document paths used by a projection; the rest of it is computed from them in this process.</summary>
internal sealed class ColumnCollector : ExpressionVisitor
{
    private readonly PathTranslator _paths;
    private readonly ParameterExpression _document;
    private readonly Dictionary<Expression, string> _names = new(ReferenceEqualityComparer.Instance);
    private readonly List<Column> _columns = [];
    private readonly List<ParameterExpression> _elements = []; // parameters of lambdas over lists

    public ColumnCollector(PathTranslator paths, DocumentLambda projection)
    {
        _paths = paths;
        _document = projection.Parameter;
        Name(projection.Body);
    }

    public IReadOnlyList<Column> Columns => _columns;

    /// <summary>Whether the whole document is used.</summary>
    public bool NeedsDocument { get; private set; }

    /// <summary>Whether rows are computed, instead of being the columns unchanged.</summary>
    public bool IsComputed { get; private set; }

    public override Expression? Visit(Expression? node)
    {
        if (node is null || node is ConstantExpression)
            return node;
        if (node == _document)
        {
            NeedsDocument = IsComputed = true;
            return node;
        }

        if (node is ParameterExpression parameter && _elements.Contains(parameter))
            return node;
        // For SelectMany, a row contains the lists themselves; a value is converted once it has been read.
        bool isComputedHere = node is MethodCallExpression { Method.Name: "SelectMany" }
            || (node is UnaryExpression { NodeType: ExpressionType.Convert or ExpressionType.ConvertChecked } convert
                && ChangesValue(convert.Operand.Type, node.Type))
            || _elements.Exists(element => PathTranslator.DependsOn(node, element));
        // not in one case: the document has the text as it was written
        if (!isComputedHere && _paths.DependsOnDocument(node)
            && _paths.TryFind(node) is { IsRoot: false, IgnoresCase: false } path)
        {
            Add(node, path);
            return node;
        }

        if (node is ParameterExpression)
            throw Refusal.Of(node, "Of a group there are Key, Count(), Sum(x => x.Member), Min(…), Max(…) and Average(…).");
        if (node is MethodCallExpression call && Sequences.Takes(call))
        {
            IsComputed = true;
            Visit(call.Arguments[0]);
            var function = (LambdaExpression)call.Arguments[1]; // checked by Takes
            _elements.Add(function.Parameters[0]);
            Visit(function.Body);
            return node;
        }

        if (node is LambdaExpression lambda)
            throw Refusal.Of(
                lambda,
                "A projection runs functions that LINQ takes for one element of a list, such as 'o.Lines.Where(l => l.Price > "
                    + "1).Sum(l => l.Price)'. Select the list and go on with what ToListAsync() gives.");
        IsComputed |= node is not (NewExpression or MemberInitExpression);
        return base.Visit(node);
    }

    private static bool ChangesValue(Type from, Type to) =>
        (Nullable.GetUnderlyingType(from) ?? from) != (Nullable.GetUnderlyingType(to) ?? to);

    private void Add(Expression node, DocumentPath path)
    {
        IsComputed |= !_names.ContainsKey(node);
        Column? column = _columns.Find(known => known.Path == path.Text && known.Type == node.Type);
        if (column is null)
        {
            string name = _names.GetValueOrDefault(node) ?? string.Create(CultureInfo.InvariantCulture, $"c{_columns.Count}");
            while (_columns.Exists(known => known.NameIs(name)))
                name += "_";
            column = new Column(name, path.Text, node.Type, path.IsId);
            _columns.Add(column);
        }

        column.Nodes.Add(node);
    }

    /// <summary>Names columns after the members that they become.</summary>
    private void Name(Expression body)
    {
        switch (body)
        {
            case NewExpression made:
                System.Reflection.ParameterInfo[] parameters = made.Constructor?.GetParameters() ?? [];
                for (int i = 0; i < made.Arguments.Count; i++)
                    _names.TryAdd(made.Arguments[i], made.Members?[i].Name ?? parameters[i].Name ?? "");
                break;
            case MemberInitExpression initialized:
                Name(initialized.NewExpression);
                foreach (MemberAssignment assignment in initialized.Bindings.OfType<MemberAssignment>())
                    _names.TryAdd(assignment.Expression, assignment.Member.Name);
                break;
            default:
                _names.TryAdd(body, "Value");
                break;
        }
    }
}
