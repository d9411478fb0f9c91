using Acornima.Ast;

namespace Treepie.Computing.JavaScript;

/// <summary>The names that a function, or the text as a whole, declares, inside those of the functions around it.</summary>
internal sealed class ScriptScope
{
    private readonly Dictionary<string, List<Node>> _values = new(StringComparer.Ordinal);
    private readonly HashSet<string> _unknown = new(StringComparer.Ordinal);
    private readonly ScriptScope? _outer;

    /// <summary>The scope of source texts that run one after the other.</summary>
    public ScriptScope(IReadOnlyList<Node> texts)
    {
        Bodies = texts;
        foreach (Node text in texts)
            Declare(text);
    }

    /// <summary>The scope of a function.</summary>
    public ScriptScope(IFunction function, ScriptScope outer)
    {
        Bodies = [function.Body];
        _outer = outer;
        foreach (Node parameter in function.Params)
            DeclareUnknown(parameter);
        Declare(function.Body);
    }

    /// <summary>What runs in it.</summary>
    public IReadOnlyList<Node> Bodies { get; }

    /// <summary>Returns the scope that declares a name with values that the text says; null if there is none.</summary>
    public ScriptScope? Declaring(string name)
    {
        for (ScriptScope? scope = this; scope is not null; scope = scope._outer)
            if (scope._values.ContainsKey(name) || scope._unknown.Contains(name))
                return scope._unknown.Contains(name) ? null : scope;
        return null;
    }

    /// <summary>Returns the values with which this scope declares a name: functions, or the values of variables.</summary>
    public IReadOnlyList<Node> Declared(string name) => _values[name];

    private void Declare(Node node)
    {
        if (node is VariableDeclarator { Id: Identifier variable } declarator)
            Add(variable.Name, declarator.Init);
        else if (node is VariableDeclarator { Id: { } pattern })
            DeclareUnknown(pattern);
        else if (node is FunctionDeclaration { Id: { } name })
            Add(name.Name, node);
        else if (node is ForOfStatement { Left: { } one })
            DeclareUnknown(one);
        else if (node is ForInStatement { Left: { } member })
            DeclareUnknown(member);
        else if (node is CatchClause { Param: { } error })
            DeclareUnknown(error);
        foreach (Node child in node.ChildNodes)
            if (child is not (null or IFunction))
                Declare(child);
            else if (child is FunctionDeclaration { Id: { } inner })
                Add(inner.Name, child);
    }

    private void Add(string name, Node? value)
    {
        if (!_values.TryGetValue(name, out List<Node>? values))
            _values.Add(name, values = []);
        if (value is not null)
            values.Add(value);
    }

    /// <summary>Declares all names in a pattern: parameters, loop variables, parts of a value.</summary>
    private void DeclareUnknown(Node pattern)
    {
        if (pattern is Identifier name)
            _unknown.Add(name.Name);
        foreach (Node child in pattern.ChildNodes)
            if (child is not null)
                DeclareUnknown(child);
    }
}
