namespace Treepie.Computing.JavaScript;

/// <summary>
/// What is done to an engine before it runs maps: a map is a function of its document, so there is no clock and no randomness;
/// what makes long texts asks first; nothing built in can be changed.
/// </summary>
internal static class MapPrelude
{
    public const string Text = """
        'use strict';
        (() => {
            const most = 4 * 1024 * 1024, refuse = what => { throw new RangeError(`${what} would have more than ${most} characters.`); };
            const string = String.prototype, array = Array.prototype;
            const { repeat, padStart, padEnd } = string, { join } = array, call = Function.prototype.call;
            string.repeat = function (count) { return String(this).length * count > most ? refuse('a text') : call.call(repeat, this, count); };
            string.padStart = function (length, by) { return length > most ? refuse('a text') : call.call(padStart, this, length, by); };
            string.padEnd = function (length, by) { return length > most ? refuse('a text') : call.call(padEnd, this, length, by); };
            array.join = function (by) {
                let length = (by === undefined ? 1 : String(by).length) * this.length;
                for (let i = 0; i < this.length; i++)
                    if (typeof this[i] === 'string' && (length += this[i].length) > most) refuse('a text');
                return length > most ? refuse('a text') : call.call(join, this, by);
            };
            const time = Date, none = what => () => { throw new TypeError(`${what} is not there in an index: a map is a function of its document.`); };
            function FixedDate(...parts) { return new.target && parts.length > 0 ? new time(...parts) : none('the current time')(); }
            FixedDate.prototype = time.prototype;
            FixedDate.parse = time.parse;
            FixedDate.UTC = time.UTC;
            FixedDate.now = none('the current time');
            globalThis.Date = FixedDate;
            Math.random = none('Math.random');
            globalThis.id = document => document == null ? null : document['@metadata']['@id'];
            globalThis.getMetadata = document => document == null ? null : document['@metadata'];
            globalThis.load = (id, collection) => id == null ? null : Array.isArray(id) ? id.map(one => load(one, collection)) : $load(String(id), collection);
            globalThis.noTracking = { load: globalThis.load };
            globalThis.cmpxchg = key => key == null ? null : $compareExchange(String(key));
            globalThis.boost = (value, weight) => ({ ...value, '@boost': weight });
            globalThis.createSpatialField = (latitude, longitude) => longitude === undefined ? latitude : latitude == null || longitude == null ? undefined : `POINT (${longitude} ${latitude})`;
            globalThis.createVector = vector => vector;
            globalThis.recurse = (value, next) => {
                const found = [], seen = new Set();
                const descend = value => {
                    for (const one of Array.isArray(value) ? value : value == null ? [] : [value])
                        if (one != null && !seen.has(one)) { seen.add(one); found.push(one); descend(next(one)); }
                };
                descend(value);
                return found;
            };
            for (const one of [Object, Array, String, Number, Boolean, Function, RegExp, time, Map, Set, Symbol, Error, Promise]) { Object.freeze(one); Object.freeze(one.prototype); }
            for (const one of [Math, JSON, FixedDate, noTracking]) Object.freeze(one);
        })();
        """;
}
