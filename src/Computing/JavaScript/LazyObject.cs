using System.Text;
using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Descriptors;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// A JSON object in a script, of which a member is read when it is asked for: a map reads three of fifty. Whatever asks for more
/// than a member by its name (its names, a change) first makes an ordinary object of it.
/// </summary>
internal sealed class LazyObject : ObjectInstance
{
    private const int FewBytes = 256;

    private readonly ReadOnlyMemory<byte> _json;
    private Member[]? _members;
    private bool _isOrdinary;

    /// <param name="engine">The engine.</param>
    /// <param name="json">A JSON object, which does not change while the object lives.</param>
    /// <param name="prototype">The prototype of objects.</param>
    public LazyObject(Engine engine, ReadOnlyMemory<byte> json, ObjectInstance? prototype)
        : base(engine)
    {
        _json = json;
        Prototype = prototype;
    }

    /// <summary>Whether the text still says all of it, but for what <see cref="Written"/> gives.</summary>
    public bool IsText => !_isOrdinary;

    /// <summary>The text.</summary>
    public ReadOnlySpan<byte> Text => _json.Span;

    /// <summary>
    /// Whether the members are the text's own: none of them was handed out as something that can have been changed since.
    /// </summary>
    public bool IsUntouched
    {
        get
        {
            if (_isOrdinary)
                return false;
            foreach (Member member in _members ?? [])
                if (member.Value is ObjectInstance and not LazyObject { IsUntouched: true })
                    return false;
            return true;
        }
    }

    public override PropertyDescriptor GetOwnProperty(JsValue property) =>
        _isOrdinary || property is not JsString name
            ? base.GetOwnProperty(property)
            : Find(name.ToString()) is >= 0 and var at
                ? new PropertyDescriptor(ValueOf(at), writable: true, enumerable: true, configurable: true)
                : PropertyDescriptor.Undefined;

    public override List<JsValue> GetOwnPropertyKeys(Types types = Types.String | Types.Symbol)
    {
        MakeOrdinary();
        return base.GetOwnPropertyKeys(types);
    }

    public override IEnumerable<KeyValuePair<JsValue, PropertyDescriptor>> GetOwnProperties()
    {
        MakeOrdinary();
        return base.GetOwnProperties();
    }

    public override bool Set(JsValue property, JsValue value, JsValue receiver)
    {
        MakeOrdinary();
        return base.Set(property, value, receiver);
    }

    public override bool DefineOwnProperty(JsValue property, PropertyDescriptor desc)
    {
        MakeOrdinary();
        return base.DefineOwnProperty(property, desc);
    }

    public override bool Delete(JsValue property)
    {
        MakeOrdinary();
        return base.Delete(property);
    }

    public override bool PreventExtensions()
    {
        MakeOrdinary();
        return base.PreventExtensions();
    }

    /// <summary>Gives each member, in order: its name, its text, and its value where that can have been changed.</summary>
    public IEnumerable<(string Name, ReadOnlyMemory<byte> Text, JsValue? Value)> Written()
    {
        foreach (Member member in Members())
            yield return (
                member.NameIn(_json.Span), _json[member.Start..member.End], member.Value is ObjectInstance ? member.Value : null);
    }

    protected override void Initialize()
    {
        // It has no members of its own before it is made ordinary.
    }

    private void MakeOrdinary()
    {
        if (_isOrdinary)
            return;
        Member[] members = Members();
        _isOrdinary = true;
        for (int i = 0; i < members.Length; i++)
            FastSetDataProperty(members[i].NameIn(_json.Span), ValueOf(i));
        _members = null;
    }

    private JsValue ValueOf(int at)
    {
        ref Member member = ref Members()[at];
        return member.Value ??= ScriptJson.Lazy(Engine, _json[member.Start..member.End], Prototype);
    }

    /// <summary>The number of a member; -1 where there is none. Of several with one name the last counts.</summary>
    private int Find(string name)
    {
        int most = Encoding.UTF8.GetMaxByteCount(name.Length);
        Span<byte> room = most <= FewBytes ? stackalloc byte[FewBytes] : new byte[most];
        ReadOnlySpan<byte> utf8 = room[..Encoding.UTF8.GetBytes(name, room)], json = _json.Span;
        Member[] members = Members();
        for (int i = members.Length - 1; i >= 0; i--)
        {
            ref readonly Member member = ref members[i];
            if (member.IsEscaped
                ? member.NameIn(json) == name
                : json[member.NameStart..member.NameEnd].SequenceEqual(utf8))
                return i;
        }

        return -1;
    }

    private Member[] Members()
    {
        if (_members is not null)
            return _members;
        var members = new List<Member>();
        var reader = new Utf8JsonReader(_json.Span, new JsonReaderOptions { MaxDepth = ScriptJson.Reading.MaxDepth });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int name = (int)reader.TokenStartIndex + 1;
            var member = new Member
            {
                NameStart = name,
                NameEnd = name + reader.ValueSpan.Length,
                IsEscaped = reader.ValueIsEscaped
            };
            reader.Read();
            member.Start = (int)reader.TokenStartIndex;
            reader.Skip();
            member.End = (int)reader.BytesConsumed;
            members.Add(member);
        }

        return _members = [.. members];
    }

    /// <summary>Where a member stands in the text.</summary>
    private struct Member
    {
        public int NameStart { get; init; }

        public int NameEnd { get; init; }

        public bool IsEscaped { get; init; }

        public int Start { get; set; }

        public int End { get; set; }

        /// <summary>Its value, once it was asked for.</summary>
        public JsValue? Value { get; set; }

        public readonly string NameIn(ReadOnlySpan<byte> json)
        {
            if (!IsEscaped)
                return Encoding.UTF8.GetString(json[NameStart..NameEnd]);
            var reader = new Utf8JsonReader(json[(NameStart - 1)..(NameEnd + 1)]);
            reader.Read();
            return reader.GetString() ?? "";
        }
    }
}
