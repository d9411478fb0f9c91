using System.Linq.Expressions;

namespace Treepie.Computing.CSharp;

/// <summary>The variables visible at a position of the source code. Immutable.</summary>
internal sealed class Scope
{
    private readonly Scope? _outer;
    private readonly string _name;
    private readonly Expression? _value;

    private Scope(Scope? outer, string name, Expression? value, Expression? receiver)
    {
        _outer = outer;
        _name = name;
        _value = value;
        Receiver = receiver;
    }

    public static Scope Empty { get; } = new(null, "", null, null);

    /// <summary>The value before <c>?.</c>.</summary>
    public Expression? Receiver { get; }

    public Scope With(string name, Expression value) => new(this, name, value, Receiver);

    public Scope WithReceiver(Expression receiver) => new(this, "", null, receiver);

    public Expression? Find(string name)
    {
        for (Scope? scope = this; scope is not null; scope = scope._outer)
            if (scope._value is not null && scope._name == name)
                return scope._value;
        return null;
    }
}
